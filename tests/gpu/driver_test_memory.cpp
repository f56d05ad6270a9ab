// Memory and contexts of the pretended driver. See driver_test.cpp.
#include "driver_test.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <thread>

namespace {

// ---- Memory ---------------------------------------------------------------------------------

void test_bytes_go_and_come() {
    begin();
    void* const device = cuda_allocate(0, some);
    auto const data = pattern(some, 3);
    cuda_put(device, data.data(), some);
    EXPECT(content(device, some) == data);
    OK(cuda.cuMemsetD8_v2(at(device) + 10, 9, 5));
    auto const set = content(device, 20);
    EXPECT(set[9] == data[9] && set[10] == 9 && set[14] == 9 && set[15] == data[15]);
}

void test_touch_is_a_crash() {
    begin();
    auto* const device = static_cast<char volatile*>(cuda_allocate(0, some));
    *device = 1;
}

void test_system_calls_fail() {
    begin();
    void* const device = cuda_allocate(0, some);
    std::array<int, 2> ends{};
    EXPECT(pipe(ends.data()) == 0);
    EXPECT(write(ends[1], device, 10) == -1 && errno == EFAULT);
    EXPECT(write(ends[1], cuda_allocate_managed(0, some), 10) == 10);
}

void test_attributes() {
    begin();
    auto* const device = static_cast<char*>(cuda_allocate(1, some));
    EXPECT(asked<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 5) == CU_MEMORYTYPE_DEVICE);
    EXPECT(asked<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device) == 1);
    EXPECT(asked<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, device) == cuda_context(1));
    EXPECT(asked<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, device) == 0);
    EXPECT(asked<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 7) == at(device));
    EXPECT(asked<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, device + some - 1) == some);
    void* const managed = cuda_allocate_managed(0, some);
    EXPECT(asked<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, managed) == CU_MEMORYTYPE_DEVICE);
    EXPECT(asked<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, managed) == 1);
    void* const pinned = cuda_allocate_pinned(0, some);
    EXPECT(asked<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pinned) == CU_MEMORYTYPE_HOST);
    unsigned type = 0;
    for (void const* other :
         {static_cast<void const*>(&type), static_cast<void const*>(device + some)})
        EXPECT(cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at(other)) ==
               CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr from = 0;
    std::size_t bytes = 0;
    OK(cuda.cuMemGetAddressRange_v2(&from, &bytes, at(device + 8)));
    EXPECT(from == at(device) && bytes == some);
}

void test_freed_memory() {
    begin();
    std::array<char, 100> host{};
    void* const device = cuda_allocate(0, some);
    void* const other = cuda_allocate(0, some);
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    cuda_free(device);
    EXPECT(cuda.cuMemFree_v2(at(device)) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuda.cuMemcpyDtoH_v2(host.data(), at(device), 100) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuda.cuMemcpyAsync(at(device), at(host.data()), 100, stream) ==
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuda.cuMemcpyDtoH_v2(host.data(), at(other) + some - 50, 100) ==
           CUDA_ERROR_INVALID_VALUE);
    unsigned type = 0;
    auto const ask = [&] {
        return cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at(device) + 9);
    };
    EXPECT(ask() == CUDA_ERROR_INVALID_VALUE);
    cuda.order("freed=known");
    EXPECT(ask() == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE);
    // A kernel finds out later, and its context is lost.
    cuda_fill(cuda_context(0), stream, device, 100, 1);
    EXPECT(cuda.cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuda.cuMemcpyDtoH_v2(host.data(), at(other), 100) == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuda.cuMemAlloc_v2(reinterpret_cast<CUdeviceptr*>(&type), 0) ==
           CUDA_ERROR_ILLEGAL_ADDRESS);
}

void test_much_memory() {
    begin();
    CUdeviceptr large = 0;
    EXPECT(cuda.cuMemAlloc_v2(&large, std::size_t{1} << 39) == CUDA_ERROR_OUT_OF_MEMORY);
    // Addresses begin anew when all have been used.
    void* const kept = cuda_allocate(0, some);
    for (int i = 0; i < 20; ++i) cuda_free(cuda_allocate(0, std::size_t{1} << 35));
    EXPECT(content(kept, some) == std::vector<unsigned char>(some));
}

void test_registered_memory() {
    begin();
    constexpr unsigned both = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    std::vector<char> host(some);
    CUdeviceptr device = 0;
    EXPECT(cuda.cuMemHostUnregister(host.data()) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuda.cuMemHostRegister_v2(host.data(), some / 2, both));
    EXPECT(cuda.cuMemHostRegister_v2(host.data() + some / 2, 10, both) ==
           CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuda.cuMemHostGetDevicePointer_v2(&device, host.data(), 0));
    EXPECT(device == at(host.data()));
    void* const memory = cuda_allocate(0, some);
    EXPECT(cuda.cuMemcpyDtoH_v2(host.data() + 10, at(memory), some / 2) ==
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuda.cuMemHostRegister_v2(memory, some, both) == CUDA_ERROR_INVALID_VALUE);
    OK(cuda.cuMemHostUnregister(host.data()));
    EXPECT(cuda.cuMemHostGetDevicePointer_v2(&device, host.data(), 0) == CUDA_ERROR_INVALID_VALUE);
}

void test_registered_apart() {
    begin();
    std::vector<unsigned char> host(some);
    CUdeviceptr device = 0;
    OK(cuda.cuMemHostRegister_v2(host.data(), some, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuda.cuMemHostGetDevicePointer_v2(&device, host.data(), 0));
    EXPECT(device != at(host.data()));
    cuda_fill(cuda_context(0), nullptr, reinterpret_cast<void*>(device), some, 4);
    OK(cuda.cuCtxSynchronize());
    EXPECT(host == pattern(some, 4));
    cuda_fill(cuda_context(0), nullptr, host.data(), some, 4);
    EXPECT(cuda.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

void test_registration_refused() {
    begin();
    std::vector<char> host(some);
    EXPECT(cuda.cuMemHostRegister_v2(host.data(), some, 0) == CUDA_ERROR_NOT_SUPPORTED);
}

// ---- Contexts -------------------------------------------------------------------------------

void test_calls_need_a_context() {
    EXPECT(cuda_open() == 1);
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    void* const device = cuda_allocate(0, some);
    CUdeviceptr const there = at(device);
    char byte = 0;
    EXPECT(cuda.cuMemAlloc_v2(&memory, 10) == CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuda.cuStreamCreate(&stream, 0) == CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuda.cuMemcpyDtoH_v2(&byte, there, 1) == CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuda.cuStreamSynchronize(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(asked<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device) == 0);
    OK(cuda.cuCtxSetCurrent(cuda_context(0)));
    OK(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    std::thread([&] {
        EXPECT(cuda.cuMemcpyAsync(there, at(&byte), 1, stream) == CUDA_ERROR_INVALID_CONTEXT);
        OK(cuda.cuStreamQuery(stream));
        OK(cuda.cuStreamSynchronize(stream));
    }).join();
    OK(cuda.cuCtxSetCurrent(nullptr));
    CUcontext current = cuda_context(0);
    OK(cuda.cuCtxGetCurrent(&current));
    EXPECT(current == nullptr);
}

void test_contexts_end() {
    EXPECT(cuda_open() == 1);
    CUcontext own = nullptr;
    CUstream stream = nullptr;
    OK(cuda.cuCtxCreate_v2(&own, 0, 0));
    void* const device = cuda_allocate_in(own, some);
    OK(cuda.cuStreamCreate(&stream, 0));
    std::thread([&] {
        cuda_enter(own);
        EXPECT(cuda.cuMemsetD8_v2(at(device), 1, 1) == CUDA_SUCCESS);
    }).join();
    OK(cuda.cuCtxDestroy_v2(own));
    EXPECT(cuda.cuCtxSetCurrent(own) == CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuda.cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuda.cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE);
    begin();
    EXPECT(cuda.cuMemsetD8_v2(at(device), 1, 1) == CUDA_ERROR_INVALID_VALUE);
    cuda_leave();
    OK(cuda.cuDevicePrimaryCtxRelease_v2(0));
    EXPECT(cuda.cuDevicePrimaryCtxRelease_v2(0) == CUDA_ERROR_INVALID_CONTEXT);
}

void test_no_device() {
    void* const library = dlopen(std::getenv("PRETENDED_CUDA"), RTLD_NOW | RTLD_LOCAL);
    auto* const init = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(library, "cuInit"));
    auto* const count = reinterpret_cast<CUresult (*)(int*)>(dlsym(library, "cuDeviceGetCount"));
    int devices = 0;
    EXPECT(count(&devices) == CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(init(0) == CUDA_ERROR_NO_DEVICE);
}

Test const tests[] = {
    {"bytes go and come", "", test_bytes_go_and_come},
    {"bytes go and come, delayed", "delay=2000", test_bytes_go_and_come},
    {"touch is a crash", "", test_touch_is_a_crash, SIGSEGV},
    {"system calls fail", "", test_system_calls_fail},
    {"attributes", "devices=2", test_attributes},
    {"freed memory", "", test_freed_memory},
    {"much memory", "", test_much_memory},
    {"registered memory", "", test_registered_memory},
    {"registered memory apart", "mapped=apart", test_registered_apart},
    {"registration refused", "registers=0", test_registration_refused},
    {"calls need a context", "", test_calls_need_a_context},
    {"contexts end", "", test_contexts_end},
    {"no device", "devices=0", test_no_device},
};

}  // namespace

std::span<Test const> memory_tests() { return tests; }
