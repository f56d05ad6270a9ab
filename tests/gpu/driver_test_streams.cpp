// Streams, kernels and orders of the pretended driver. See driver_test.cpp.
#include "base/rows.hpp"
#include "driver_test.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace {

// ---- Streams --------------------------------------------------------------------------------

void test_copies_come_later() {
    begin();
    void* const device = cuda_allocate(0, some);
    auto* const pinned = static_cast<unsigned char*>(cuda_allocate_pinned(0, some));
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = nullptr;
    OK(cuda.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuda.cuEventQuery(event));
    cuda_fill(cuda_context(0), stream, device, some, 5);
    OK(cuda.cuMemcpyAsync(at(pinned), at(device), some, stream));
    OK(cuda.cuEventRecord(event, stream));
    EXPECT(pinned[0] == 0);
    EXPECT(cuda.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    EXPECT(cuda.cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    OK(cuda.cuEventSynchronize(event));
    OK(cuda.cuEventQuery(event));
    EXPECT(std::memcmp(pinned, pattern(some, 5).data(), some) == 0);
    OK(cuda.cuEventDestroy_v2(event));
    EXPECT(cuda.cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
}

void test_pageable_memory_is_waited_for() {
    begin();
    void* const device = cuda_allocate(0, some);
    std::vector<unsigned char> host(some);
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    cuda_fill(cuda_context(0), stream, device, some, 6);
    OK(cuda.cuMemcpyDtoHAsync_v2(host.data(), at(device), some, stream));
    EXPECT(host == pattern(some, 6));
}

void test_pageable_memory_may_be_late() {
    begin();
    void* const device = cuda_allocate(0, some);
    std::vector<unsigned char> host(some);
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    cuda_fill(cuda_context(0), stream, device, some, 6);
    OK(cuda.cuMemcpyDtoHAsync_v2(host.data(), at(device), some, stream));
    EXPECT(host == std::vector<unsigned char>(some));
    OK(cuda.cuStreamSynchronize(stream));
    EXPECT(host == pattern(some, 6));
}

void test_default_stream_is_waited_for() {
    begin();
    void* const device = cuda_allocate(0, some);
    CUstream const blocking = stream_of(CU_STREAM_DEFAULT),
                   free = stream_of(CU_STREAM_NON_BLOCKING);
    cuda_busy(cuda_context(0), nullptr, 500'000);
    OK(cuda.cuMemsetD8Async(at(device), 1, 1, free));
    OK(cuda.cuStreamSynchronize(free));
    EXPECT(cuda.cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY);
    OK(cuda.cuMemsetD8Async(at(device), 2, 1, blocking));
    OK(cuda.cuStreamSynchronize(blocking));
    OK(cuda.cuStreamQuery(nullptr));
    // And it waits for the others.
    cuda_busy(cuda_context(0), blocking, 200'000);
    cuda_busy(cuda_context(0), free, 1'000'000);
    OK(cuda.cuMemsetD8_v2(at(device), 3, 1));
    OK(cuda.cuStreamSynchronize(nullptr));
    OK(cuda.cuStreamQuery(blocking));
    EXPECT(cuda.cuStreamQuery(free) == CUDA_ERROR_NOT_READY);
    OK(cuda.cuCtxSynchronize());
    OK(cuda.cuStreamQuery(free));
}

void test_events_between_streams() {
    begin();
    auto* const device = static_cast<unsigned char*>(cuda_allocate(0, some));
    CUstream const first = stream_of(CU_STREAM_NON_BLOCKING),
                   second = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = nullptr;
    CUcontext of_first = nullptr;
    OK(cuda.cuStreamGetCtx(first, &of_first));
    EXPECT(of_first == cuda_context(0));
    OK(cuda.cuEventCreate(&event, 0));
    cuda_busy(cuda_context(0), first, 50'000);
    cuda_fill(cuda_context(0), first, device, 1000, 1);
    OK(cuda.cuEventRecord(event, first));
    cuda_busy(cuda_context(0), first, 500'000);
    OK(cuda.cuStreamWaitEvent(second, event, 0));
    OK(cuda.cuMemcpyDtoD_v2(at(device), at(device), 0));
    OK(cuda.cuMemcpyAsync(at(device) + 2000, at(device), 1000, second));
    OK(cuda.cuStreamSynchronize(second));
    EXPECT(cuda.cuStreamQuery(first) == CUDA_ERROR_NOT_READY);
    OK(cuda.cuStreamDestroy_v2(first));
    EXPECT(cuda.cuStreamQuery(first) == CUDA_ERROR_INVALID_HANDLE);
    EXPECT(content(device + 2000, 1000) == pattern(1000, 1));
}

void test_functions_of_the_program() {
    begin();
    struct Seen {
        std::atomic<int> code{-1};
    } seen;
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    OK(cuda.cuLaunchHostFunc(
        stream,
        [](void* data) {
            CUcontext current = nullptr;
            static_cast<Seen*>(data)->code = cuda.cuCtxGetCurrent(&current);
        },
        &seen));
    OK(cuda.cuStreamSynchronize(stream));
    EXPECT(seen.code == CUDA_ERROR_NOT_PERMITTED);
}

void test_memory_is_freed_when_used() {
    begin();
    void* const device = cuda_allocate(0, some);
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    cuda_busy(cuda_context(0), stream, 50'000);
    OK(cuda.cuMemsetD8Async(at(device), 1, some, stream));
    cuda_free(device);
    OK(cuda.cuStreamQuery(stream));
}

// ---- Copies in two dimensions, and kernels --------------------------------------------------

CUDA_MEMCPY2D rows_to_host(void* host, void const* device) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = at(device), copy.srcPitch = 64;
    copy.srcXInBytes = 4, copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = host, copy.dstPitch = 16;
    copy.WidthInBytes = 10, copy.Height = 20;
    return copy;
}

void test_two_dimensions() {
    begin();
    auto const data = pattern(64 * 21, 8);
    void* const device = cuda_allocate(0, data.size());
    cuda_put(device, data.data(), data.size());
    std::vector<unsigned char> host(16 * 20);
    CUDA_MEMCPY2D copy = rows_to_host(host.data(), device);
    OK(cuda.cuMemcpy2DAsync_v2(&copy, nullptr));
    for (std::size_t row = 0; row < 20; ++row)
        for (std::size_t i = 0; i < 16; ++i)
            EXPECT(host[row * 16 + i] == (i < 10 ? data[(row + 1) * 64 + 4 + i] : 0));
    copy.Height = 21;
    EXPECT(cuda.cuMemcpy2DAsync_v2(&copy, nullptr) == CUDA_ERROR_INVALID_VALUE);
    copy.Height = 20, copy.dstPitch = 9;
    EXPECT(cuda.cuMemcpy2DAsync_v2(&copy, nullptr) == CUDA_ERROR_INVALID_VALUE);
    copy.Height = 1, copy.dstPitch = std::size_t{1} << 31;
    EXPECT(cuda.cuMemcpy2DAsync_v2(&copy, nullptr) == CUDA_ERROR_INVALID_VALUE);
    copy.Height = 0;
    OK(cuda.cuMemcpy2DAsync_v2(&copy, nullptr));
}

CUfunction copy_rows() {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT(cuda.cuModuleLoadData(&module, "no text of kernels") == CUDA_ERROR_INVALID_IMAGE);
    OK(cuda.cuModuleLoadData(&module, "// rows\n.version 6.0\n.entry sluice_copy_rows(other"));
    EXPECT(cuda.cuModuleGetFunction(&function, module, "other") == CUDA_ERROR_NOT_FOUND);
    OK(cuda.cuModuleGetFunction(&function, module, "sluice_copy_rows"));
    return function;
}

CUresult launch(CUfunction function, CUdeviceptr table, std::uint64_t rows, CUstream stream) {
    void* parameters[] = {&table, &rows};
    return cuda.cuLaunchKernel(function, 8, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr);
}

void test_rows() {
    begin();
    auto const data = pattern(some, 2);
    void* const device = cuda_allocate(0, some);
    cuda_put(device, data.data(), some);
    auto* const host = static_cast<unsigned char*>(cuda_allocate_pinned(0, some));
    auto* const table = static_cast<sluice::Rows*>(cuda_allocate_pinned(0, 4096));
    auto const here = reinterpret_cast<std::int64_t>(host),
               there = reinterpret_cast<std::int64_t>(device);
    table[0] = {here, there + 100, 10, 50, 10, 100};
    table[1] = {here + 900, there, 7, 3, -20, 1000};
    CUfunction const function = copy_rows();
    OK(launch(function, at(table), 2, nullptr));
    OK(cuda.cuCtxSynchronize());
    for (std::size_t i = 0; i < 500; ++i) EXPECT(host[i] == data[100 + i / 10 * 100 + i % 10]);
    for (std::size_t i = 0; i < 21; ++i)
        EXPECT(host[900 - i / 7 * 20 + i % 7] == data[i / 7 * 1000 + i % 7]);
    EXPECT(launch(function, at(table), 0, nullptr) == CUDA_SUCCESS);
    EXPECT(launch(nullptr, at(table), 1, nullptr) == CUDA_ERROR_INVALID_HANDLE);
    CUstream stream = nullptr;
    cuda_enter(cuda_context(1));
    OK(cuda.cuStreamCreate(&stream, 0));
    EXPECT(launch(function, at(table), 1, stream) == CUDA_ERROR_INVALID_HANDLE);
    cuda_leave();
    EXPECT(launch(function, at(table), 1, stream) == CUDA_ERROR_INVALID_HANDLE);
    // Memory of another device, which a copy may reach, is none of a kernel's.
    auto const far = reinterpret_cast<std::int64_t>(cuda_allocate(1, some));
    OK(cuda.cuMemcpyDtoD_v2(static_cast<CUdeviceptr>(far), at(device), some));
    table[0] = {here, far, 10, 1, 0, 0};
    OK(launch(function, at(table), 1, nullptr));
    EXPECT(cuda.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

void test_no_kernels() {
    begin();
    CUmodule module = nullptr;
    EXPECT(cuda.cuModuleLoadData(&module, ".version 6.0\n.entry sluice_copy_rows(") ==
           CUDA_ERROR_INVALID_PTX);
    cuda_busy(cuda_context(0), nullptr, 1);
    OK(cuda.cuCtxSynchronize());
}

// ---- Orders ---------------------------------------------------------------------------------

void test_failures() {
    begin();
    CUdeviceptr memory = 0;
    OK(cuda.cuMemAlloc_v2(&memory, 10));
    EXPECT(cuda.cuMemAlloc_v2(&memory, 10) == CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuda.cuMemAlloc_v2(&memory, 10));
    EXPECT(cuda.cuMemsetD8_v2(memory, 0, 1) == CUDA_ERROR_UNKNOWN);
    EXPECT(cuda.cuMemsetD8_v2(memory, 0, 1) == CUDA_ERROR_UNKNOWN);
    cuda.order("fail=any:2:801");
    OK(cuda.cuMemsetD8_v2(memory, 0, 1));
    EXPECT(asked<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, reinterpret_cast<void*>(memory)) == 0);
    EXPECT(cuda.cuMemsetD8_v2(memory, 0, 1) == CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuda.calls() == 2);
}

void test_late_failures() {
    begin();
    CUdeviceptr memory = 0;
    CUstream const stream = stream_of(CU_STREAM_NON_BLOCKING);
    CUevent event = nullptr;
    OK(cuda.cuEventCreate(&event, 0));
    OK(cuda.cuMemAlloc_v2(&memory, 10));
    OK(cuda.cuMemsetD8Async(memory, 0, 1, stream));
    OK(cuda.cuMemsetD8Async(memory, 0, 1, stream));
    OK(cuda.cuEventRecord(event, stream));
    EXPECT(cuda.cuEventSynchronize(event) == CUDA_ERROR_ECC_UNCORRECTABLE);
    EXPECT(cuda.cuStreamQuery(stream) == CUDA_ERROR_ECC_UNCORRECTABLE);
    EXPECT(cuda.cuMemFree_v2(memory) == CUDA_ERROR_ECC_UNCORRECTABLE);
    EXPECT(cuda.operations() == 2);
    cuda_enter(cuda_context(1));
    OK(cuda.cuMemAlloc_v2(&memory, 10));
}

void test_log() {
    char name[] = "/tmp/driver_log_XXXXXX";
    close(mkstemp(name));
    setenv("PRETENDED_GPU", (std::string("log=") + name).c_str(), 1);
    begin();
    CUdeviceptr memory = 0;
    EXPECT(cuda.cuMemAlloc_v2(&memory, 0) == CUDA_ERROR_INVALID_VALUE);
    std::ifstream file(name);
    std::string last, line;
    while (std::getline(file, line)) last = line;
    unlink(name);
    EXPECT(last == std::to_string(getpid()) + " cuMemAlloc_v2 1");
}

void test_words_of_errors() {
    begin();
    char const* text = nullptr;
    OK(cuda.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    EXPECT(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
    EXPECT(cuda.cuGetErrorString(static_cast<CUresult>(900), &text) == CUDA_ERROR_INVALID_VALUE);
    std::array<char, 100> name{};
    OK(cuda.cuDeviceGetName(name.data(), 100, 0));
    EXPECT(std::string(name.data()) == "Pretended device 0");
}

Test const tests[] = {
    {"copies come later", "delay=20000", test_copies_come_later},
    {"pageable memory is waited for", "delay=20000", test_pageable_memory_is_waited_for},
    {"pageable memory may be late", "delay=20000,pageable=async", test_pageable_memory_may_be_late},
    {"the default stream is waited for", "", test_default_stream_is_waited_for},
    {"events between streams", "", test_events_between_streams},
    {"functions of the program", "", test_functions_of_the_program},
    {"memory is freed when used", "", test_memory_is_freed_when_used},
    {"two dimensions", "", test_two_dimensions},
    {"rows", "devices=2", test_rows},
    {"no kernels", "kernels=0", test_no_kernels},
    {"failures", "fail=cuMemAlloc:2:2,fail=cuMemsetD8_v2:1+:999", test_failures},
    {"late failures", "devices=2,fail=late:2:214", test_late_failures},
    {"log", "", test_log},
    {"words of errors", "", test_words_of_errors},
};

}  // namespace

std::span<Test const> stream_tests() { return tests; }
