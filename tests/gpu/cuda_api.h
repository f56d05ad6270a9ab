/* What the tests need of CUDA's driver: names, numbers, layouts and signatures as in its cuda.h,
 * which a machine without CUDA does not have. The pretended driver defines these functions;
 * programs look for them in the library that they open. */
#ifndef CUDA_API_H
#define CUDA_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUarray_st* CUarray;
typedef void (*CUhostFn)(void*);

typedef enum CUresult {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef enum CUmemorytype {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;

typedef enum CUpointer_attribute {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12
} CUpointer_attribute;

enum {
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CU_STREAM_DEFAULT = 0,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DEFAULT = 0,
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEM_ATTACH_GLOBAL = 1,
    CU_MEM_ATTACH_HOST = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_MEMHOSTALLOC_WRITECOMBINED = 4,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEMHOSTREGISTER_DEVICEMAP = 2,
    CU_MEMHOSTREGISTER_IOMEMORY = 4,
    CU_MEMHOSTREGISTER_READ_ONLY = 8
};
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    void const* srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void* dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* Each function: CUDA_FUNCTION(name, its parameters). */
#define CUDA_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(cuInit, (unsigned flags))                                                             \
    FUNCTION(cuDriverGetVersion, (int* version))                                                   \
    FUNCTION(cuGetErrorName, (CUresult code, char const** name))                                   \
    FUNCTION(cuGetErrorString, (CUresult code, char const** text))                                 \
    FUNCTION(cuDeviceGet, (CUdevice * device, int ordinal))                                        \
    FUNCTION(cuDeviceGetCount, (int* count))                                                       \
    FUNCTION(cuDeviceGetName, (char* name, int bytes, CUdevice device))                            \
    FUNCTION(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))                   \
    FUNCTION(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                     \
    FUNCTION(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                      \
    FUNCTION(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device))               \
    FUNCTION(cuCtxDestroy_v2, (CUcontext context))                                                 \
    FUNCTION(cuCtxSetCurrent, (CUcontext context))                                                 \
    FUNCTION(cuCtxGetCurrent, (CUcontext * context))                                               \
    FUNCTION(cuCtxPushCurrent_v2, (CUcontext context))                                             \
    FUNCTION(cuCtxPopCurrent_v2, (CUcontext * context))                                            \
    FUNCTION(cuCtxGetDevice, (CUdevice * device))                                                  \
    FUNCTION(cuCtxGetStreamPriorityRange, (int* least, int* greatest))                             \
    FUNCTION(cuCtxSynchronize, (void))                                                             \
    FUNCTION(cuMemAlloc_v2, (CUdeviceptr * at, size_t bytes))                                      \
    FUNCTION(cuMemAllocManaged, (CUdeviceptr * at, size_t bytes, unsigned flags))                  \
    FUNCTION(cuMemFree_v2, (CUdeviceptr at))                                                       \
    FUNCTION(cuMemAllocHost_v2, (void** at, size_t bytes))                                         \
    FUNCTION(cuMemHostAlloc, (void** at, size_t bytes, unsigned flags))                            \
    FUNCTION(cuMemFreeHost, (void* at))                                                            \
    FUNCTION(cuMemHostRegister_v2, (void* at, size_t bytes, unsigned flags))                       \
    FUNCTION(cuMemHostUnregister, (void* at))                                                      \
    FUNCTION(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device, void* host, unsigned flags))     \
    FUNCTION(cuPointerGetAttribute, (void* data, CUpointer_attribute attribute, CUdeviceptr at))   \
    FUNCTION(cuMemGetAddressRange_v2, (CUdeviceptr * begin, size_t* bytes, CUdeviceptr at))        \
    FUNCTION(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                           \
    FUNCTION(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))     \
    FUNCTION(cuMemcpyHtoD_v2, (CUdeviceptr to, void const* from, size_t bytes))                    \
    FUNCTION(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t bytes))                          \
    FUNCTION(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                    \
    FUNCTION(cuMemcpyHtoDAsync_v2,                                                                 \
             (CUdeviceptr to, void const* from, size_t bytes, CUstream stream))                    \
    FUNCTION(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream))    \
    FUNCTION(cuMemcpy2DAsync_v2, (CUDA_MEMCPY2D const* copy, CUstream stream))                     \
    FUNCTION(cuMemsetD8_v2, (CUdeviceptr at, unsigned char value, size_t bytes))                   \
    FUNCTION(cuMemsetD8Async,                                                                      \
             (CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream))                 \
    FUNCTION(cuStreamCreate, (CUstream * stream, unsigned flags))                                  \
    FUNCTION(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority))        \
    FUNCTION(cuStreamDestroy_v2, (CUstream stream))                                                \
    FUNCTION(cuStreamQuery, (CUstream stream))                                                     \
    FUNCTION(cuStreamSynchronize, (CUstream stream))                                               \
    FUNCTION(cuStreamGetCtx, (CUstream stream, CUcontext * context))                               \
    FUNCTION(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                  \
    FUNCTION(cuEventCreate, (CUevent * event, unsigned flags))                                     \
    FUNCTION(cuEventRecord, (CUevent event, CUstream stream))                                      \
    FUNCTION(cuEventQuery, (CUevent event))                                                        \
    FUNCTION(cuEventSynchronize, (CUevent event))                                                  \
    FUNCTION(cuEventDestroy_v2, (CUevent event))                                                   \
    FUNCTION(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void* data))                   \
    FUNCTION(cuModuleLoadData, (CUmodule * module, void const* image))                             \
    FUNCTION(cuModuleGetFunction, (CUfunction * function, CUmodule module, char const* name))      \
    FUNCTION(cuLaunchKernel,                                                                       \
             (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,              \
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,         \
              CUstream stream, void** parameters, void** extra))

#define CUDA_DECLARE(name, parameters) CUresult name parameters;
CUDA_FUNCTIONS(CUDA_DECLARE)
#undef CUDA_DECLARE

/* Only the pretended driver has these. */

/* Replaces the orders of failures that PRETENDED_GPU gave, and counts calls from here on:
 * "fail=cuMemcpyAsync:1:2,freed=known". Null or "": none is left. */
void pretended_order(char const* orders);
/* Calls that `fail=any` counts, and stream operations that `fail=late` counts, since then. */
long pretended_calls(void);
long pretended_operations(void);

/* Byte i of what the kernel test_fill leaves. */
static inline unsigned char test_byte(unsigned long long seed, size_t i) {
    return (unsigned char)(seed * 37 + i * 131 + (i >> 8) * 29 + 7);
}

#ifdef __cplusplus
}
#endif

#endif
