/* Memory of devices for test programs. The driver is opened late and for the program alone, as
 * CUDA's runtime does it: the machine's, or the pretended one that PRETENDED_CUDA names. What fails
 * ends the program with the driver's words, for these are not what is tested. */
#ifndef CUDA_BUFFERS_H
#define CUDA_BUFFERS_H

#include "cuda_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_MEMBER(name, parameters) CUresult(*name) parameters;
typedef struct Cuda {
    CUDA_FUNCTIONS(CUDA_MEMBER)
    /* The pretended driver's; null for another. */
    void (*order)(char const* orders);
    long (*calls)(void);
    long (*operations)(void);
} Cuda;
#undef CUDA_MEMBER
extern Cuda cuda;

/* How many devices there are; 0: there is no driver. May be called again. */
int cuda_open(void);
/* Ends the program where a call of the driver has failed. */
void cuda_require(CUresult code, char const* what);

/* The shared context of a device. None of these functions leaves a context current. */
CUcontext cuda_context(int device);
void cuda_enter(CUcontext context);
void cuda_leave(void);

void* cuda_allocate(int device, size_t bytes);
void* cuda_allocate_in(CUcontext context, size_t bytes);
void* cuda_allocate_managed(int device, size_t bytes);
void* cuda_allocate_pinned(int device, size_t bytes);
/* Of any kind. */
void cuda_free(void* memory);

/* Between device and host; done when they return. */
void cuda_put(void* device_memory, void const* host, size_t bytes);
void cuda_get(void* host, void const* device_memory, size_t bytes);

/* A kernel in a stream of the context, or in the default one: leaves test_byte(seed, i), or keeps
 * the stream busy. Returns at once. */
void cuda_fill(CUcontext context, CUstream stream, void* memory, size_t bytes, unsigned seed);
void cuda_busy(CUcontext context, CUstream stream, long microseconds);

#ifdef __cplusplus
}
#endif

#endif
