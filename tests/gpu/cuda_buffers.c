/* Memory of devices for test programs. See cuda_buffers.h. */
#include "cuda_buffers.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEVICES = 16 };

Cuda cuda;
static int devices = -1;
static CUcontext contexts[MOST_DEVICES];
static CUdeviceptr number(void const* memory) { return (CUdeviceptr)(uintptr_t)memory; }

static void* found(void* library, char const* name, int must) {
    void* const function = dlsym(library, name);
    if (function || !must) return function;
    fprintf(stderr, "the driver has no %s\n", name);
    abort();
}

static void look_up(void* library) {
#define LOOK_UP(name, parameters) *(void**)&cuda.name = found(library, #name, 1);
    CUDA_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    *(void**)&cuda.order = found(library, "pretended_order", 0);
    *(void**)&cuda.calls = found(library, "pretended_calls", 0);
    *(void**)&cuda.operations = found(library, "pretended_operations", 0);
}

void cuda_require(CUresult code, char const* what) {
    char const* name = NULL;
    if (code == CUDA_SUCCESS) return;
    cuda.cuGetErrorName(code, &name);
    fprintf(stderr, "%s: %s (%d)\n", what, name ? name : "unknown", (int)code);
    fflush(NULL);
    abort();
}

int cuda_open(void) {
    char const* const path = getenv("PRETENDED_CUDA");
    if (devices >= 0) return devices;
    devices = 0;
    void* const library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library && !path) return 0;
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    look_up(library);
    cuda_require(cuda.cuInit(0), "cuInit");
    cuda_require(cuda.cuDeviceGetCount(&devices), "cuDeviceGetCount");
    if (devices > MOST_DEVICES) devices = MOST_DEVICES;
    return devices;
}

CUcontext cuda_context(int device) {
    if (!contexts[device])
        cuda_require(cuda.cuDevicePrimaryCtxRetain(&contexts[device], device),
                     "cuDevicePrimaryCtxRetain");
    return contexts[device];
}

void cuda_enter(CUcontext context) {
    cuda_require(cuda.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
}

void cuda_leave(void) {
    CUcontext context;
    cuda_require(cuda.cuCtxPopCurrent_v2(&context), "cuCtxPopCurrent");
}

void* cuda_allocate_in(CUcontext context, size_t bytes) {
    CUdeviceptr at = 0;
    cuda_enter(context);
    cuda_require(cuda.cuMemAlloc_v2(&at, bytes), "cuMemAlloc");
    cuda_leave();
    return (void*)(uintptr_t)at;
}

void* cuda_allocate(int device, size_t bytes) {
    return cuda_allocate_in(cuda_context(device), bytes);
}

void* cuda_allocate_managed(int device, size_t bytes) {
    CUdeviceptr at = 0;
    cuda_enter(cuda_context(device));
    cuda_require(cuda.cuMemAllocManaged(&at, bytes, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged");
    cuda_leave();
    return (void*)(uintptr_t)at;
}

void* cuda_allocate_pinned(int device, size_t bytes) {
    void* at = NULL;
    cuda_enter(cuda_context(device));
    cuda_require(cuda.cuMemHostAlloc(&at, bytes, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
    cuda_leave();
    return at;
}

/* The context that memory of the driver belongs to. */
static CUcontext owner(void const* memory) {
    CUcontext context = NULL;
    cuda_require(cuda.cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, number(memory)),
                 "cuPointerGetAttribute");
    return context;
}

void cuda_free(void* memory) {
    unsigned type = 0;
    cuda_enter(owner(memory));
    cuda_require(
        cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, number(memory)),
        "cuPointerGetAttribute");
    if (type == CU_MEMORYTYPE_HOST)
        cuda_require(cuda.cuMemFreeHost(memory), "cuMemFreeHost");
    else
        cuda_require(cuda.cuMemFree_v2(number(memory)), "cuMemFree");
    cuda_leave();
}

void cuda_put(void* device_memory, void const* host, size_t bytes) {
    if (bytes == 0) return;
    cuda_enter(owner(device_memory));
    cuda_require(cuda.cuMemcpy(number(device_memory), number(host), bytes), "cuMemcpy");
    cuda_leave();
}

void cuda_get(void* host, void const* device_memory, size_t bytes) {
    if (bytes == 0) return;
    cuda_enter(owner(device_memory));
    cuda_require(cuda.cuMemcpy(number(host), number(device_memory), bytes), "cuMemcpy");
    cuda_leave();
}

/* The pretended driver knows them by their names. */
static char const kernels[] =
    ".version 5.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry test_fill(.param .u64 at, .param .u64 bytes, .param .u64 seed)\n"
    "{\n"
    ".reg .pred %p;\n"
    ".reg .u64 %at, %bytes, %seed, %i, %value, %part;\n"
    "ld.param.u64 %at, [at];\n"
    "ld.param.u64 %bytes, [bytes];\n"
    "ld.param.u64 %seed, [seed];\n"
    "cvta.to.global.u64 %at, %at;\n"
    "mul.lo.u64 %seed, %seed, 37;\n"
    "add.u64 %seed, %seed, 7;\n"
    "mov.u64 %i, 0;\n"
    "NEXT:\n"
    "setp.ge.u64 %p, %i, %bytes;\n"
    "@%p bra DONE;\n"
    "mad.lo.u64 %value, %i, 131, %seed;\n"
    "shr.u64 %part, %i, 8;\n"
    "mad.lo.u64 %value, %part, 29, %value;\n"
    "add.u64 %part, %at, %i;\n"
    "st.global.u8 [%part], %value;\n"
    "add.u64 %i, %i, 1;\n"
    "bra NEXT;\n"
    "DONE:\n"
    "ret;\n"
    "}\n"
    ".visible .entry test_busy(.param .u64 microseconds)\n"
    "{\n"
    ".reg .pred %p;\n"
    ".reg .u64 %end, %now;\n"
    "ld.param.u64 %end, [microseconds];\n"
    "mul.lo.u64 %end, %end, 1000;\n"
    "mov.u64 %now, %globaltimer;\n"
    "add.u64 %end, %end, %now;\n"
    "NEXT:\n"
    "mov.u64 %now, %globaltimer;\n"
    "setp.lt.u64 %p, %now, %end;\n"
    "@%p bra NEXT;\n"
    "ret;\n"
    "}\n";

/* Loads its module at each launch: a test has few of them. */
static void launch(CUcontext context, CUstream stream, char const* name, void** parameters) {
    CUmodule module;
    CUfunction function;
    cuda_enter(context);
    cuda_require(cuda.cuModuleLoadData(&module, kernels), "cuModuleLoadData");
    cuda_require(cuda.cuModuleGetFunction(&function, module, name), name);
    cuda_require(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL),
                 "cuLaunchKernel");
    cuda_leave();
}

void cuda_fill(CUcontext context, CUstream stream, void* memory, size_t bytes, unsigned seed) {
    uint64_t at = number(memory), length = bytes, which = seed;
    launch(context, stream, "test_fill", (void*[]){&at, &length, &which});
}

void cuda_busy(CUcontext context, CUstream stream, long microseconds) {
    uint64_t time = (uint64_t)microseconds;
    launch(context, stream, "test_busy", (void*[]){&time});
}
