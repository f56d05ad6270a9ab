// A driver of CUDA for tests on machines without a card: libcuda.so.1 with functions as in cuda.h.
// Here are devices, contexts and memory; pretended_work.cpp has what streams do. The processor
// cannot touch memory of its devices; copies happen later, in threads; a call without a current
// context fails where CUDA says so. pretended_orders.hpp says what can be ordered.
#include "pretended_driver.hpp"

#include <cstdio>

using namespace pretended;

namespace {

bool is_device(Driver const& all, int ordinal) {
    return ordinal >= 0 && ordinal < all.orders.devices;
}

struct ErrorText {
    CUresult code;
    char const *name, *text;
};
#define ERROR_TEXT(name, text) {name, #name, text}
constexpr ErrorText error_texts[] = {
    ERROR_TEXT(CUDA_SUCCESS, "no error"),
    ERROR_TEXT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR_TEXT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR_TEXT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR_TEXT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    ERROR_TEXT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ERROR_TEXT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR_TEXT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR_TEXT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR_TEXT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    ERROR_TEXT(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    ERROR_TEXT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR_TEXT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR_TEXT(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR_TEXT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR_TEXT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ERROR_TEXT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
               "part or all of the requested memory range is already mapped"),
    ERROR_TEXT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
               "pointer does not correspond to a registered memory region"),
    ERROR_TEXT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR_TEXT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    ERROR_TEXT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR_TEXT(CUDA_ERROR_UNKNOWN, "unknown error"),
};

ErrorText const* text_of(CUresult code) {
    for (ErrorText const& one : error_texts)
        if (one.code == code) return &one;
    return nullptr;
}

template <class Value> CUresult give(void* data, Value value) {
    *static_cast<Value*>(data) = value;
    return CUDA_SUCCESS;
}

CUresult attribute_of(Range const& range, CUpointer_attribute attribute, Address at, void* data) {
    bool const on_device = range.kind == Kind::device || range.kind == Kind::managed;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return give<CUcontext>(data, range.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give<unsigned>(data, on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (range.kind == Kind::device) return CUDA_ERROR_INVALID_VALUE;
        return give<CUdeviceptr>(data, Reach::near_of(at));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give<CUdeviceptr>(data, at);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return give<unsigned>(data, range.kind == Kind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give<int>(data, range.context->device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return give<CUdeviceptr>(data, range.begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return give<std::size_t>(data, range.bytes);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult allocate(Driver& all, CUctx_st& context, Kind kind, CUdeviceptr* at, std::size_t bytes,
                  unsigned flags) {
    if (!at || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *at = all.memory.allocate(kind, &context, bytes, flags);
    return *at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocate_host(Driver& all, CUctx_st& context, void** at, std::size_t bytes,
                       unsigned flags) {
    CUdeviceptr found = 0;
    CUresult const code = allocate(all, context, Kind::host, &found, bytes, flags);
    if (!code && at) *at = pointer(found);
    return code;
}

/// Memory is not freed before all that may use it is done.
CUresult free_memory(Driver& all, Lock& lock, Address at, Kind one, Kind other) {
    if (at == 0) return CUDA_SUCCESS;
    all.contexts.drain_all(lock);
    return all.memory.free(at, one, other) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

// ---- The driver and its devices -------------------------------------------------------------

CUresult cuInit(unsigned flags) {
    return call_early("cuInit", [&](Driver& all, Lock&) {
        if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (all.orders.devices <= 0) return CUDA_ERROR_NO_DEVICE;
        all.initialized = true;
        return CUDA_SUCCESS;
    });
}

CUresult cuDriverGetVersion(int* version) {
    constexpr int cuda_13 = 13'000;
    return call_early("cuDriverGetVersion",
                      [&](Driver&, Lock&) { return give<int>(version, cuda_13); });
}

CUresult cuGetErrorName(CUresult code, char const** name) {
    ErrorText const* const found = text_of(code);
    *name = found ? found->name : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, char const** text) {
    ErrorText const* const found = text_of(code);
    *text = found ? found->text : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return call("cuDeviceGet", [&](Driver& all, Lock&) {
        if (!is_device(all, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
        return give<CUdevice>(device, ordinal);
    });
}

CUresult cuDeviceGetCount(int* count) {
    return call("cuDeviceGetCount",
                [&](Driver& all, Lock&) { return give<int>(count, all.orders.devices); });
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
    return call("cuDeviceGetName", [&](Driver& all, Lock&) {
        if (!is_device(all, device)) return CUDA_ERROR_INVALID_DEVICE;
        std::snprintf(name, static_cast<std::size_t>(bytes), "Pretended device %d", device);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    return call("cuDeviceGetAttribute", [&](Driver& all, Lock&) {
        if (!is_device(all, device)) return CUDA_ERROR_INVALID_DEVICE;
        if (attribute != CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)
            return CUDA_ERROR_INVALID_VALUE;
        return give<int>(value, all.orders.mapped_apart ? 0 : 1);
    });
}

// ---- Contexts -------------------------------------------------------------------------------

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return call("cuDevicePrimaryCtxRetain", [&](Driver& all, Lock&) {
        if (!is_device(all, device)) return CUDA_ERROR_INVALID_DEVICE;
        return give<CUcontext>(context, all.contexts.retain_primary(device));
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return call("cuDevicePrimaryCtxRelease_v2", [&](Driver& all, Lock& lock) {
        if (!is_device(all, device)) return CUDA_ERROR_INVALID_DEVICE;
        CUctx_st* unused = nullptr;
        if (!all.contexts.release_primary(device, unused)) return CUDA_ERROR_INVALID_CONTEXT;
        if (unused) all.contexts.destroy(lock, *unused, all.memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
    return call("cuCtxCreate_v2", [&](Driver& all, Lock&) {
        if (!is_device(all, device)) return CUDA_ERROR_INVALID_DEVICE;
        *context = all.contexts.create(device);
        Contexts::current().push_back(*context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    return call("cuCtxDestroy_v2", [&](Driver& all, Lock& lock) {
        if (!all.contexts.is_known(context)) return CUDA_ERROR_INVALID_CONTEXT;
        all.contexts.destroy(lock, *context, all.memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return call("cuCtxSetCurrent", [&](Driver& all, Lock&) {
        auto& current = Contexts::current();
        if (context && !all.contexts.is_known(context)) return CUDA_ERROR_INVALID_CONTEXT;
        if (!current.empty()) current.pop_back();
        if (context) current.push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
    return call("cuCtxGetCurrent", [&](Driver&, Lock&) {
        auto const& current = Contexts::current();
        return give<CUcontext>(context, current.empty() ? nullptr : current.back());
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return call("cuCtxPushCurrent_v2", [&](Driver& all, Lock&) {
        if (!all.contexts.is_known(context)) return CUDA_ERROR_INVALID_CONTEXT;
        Contexts::current().push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
    return call("cuCtxPopCurrent_v2", [&](Driver&, Lock&) {
        auto& current = Contexts::current();
        if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (context) *context = current.back();
        current.pop_back();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice* device) {
    return call_in_context("cuCtxGetDevice", [&](Driver&, Lock&, CUctx_st const& context) {
        return give<CUdevice>(device, context.device);
    });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return call_in_context("cuCtxGetStreamPriorityRange", [&](Driver&, Lock&, CUctx_st&) {
        if (least) *least = 0;
        return give<int>(greatest, -5);
    });
}

CUresult cuCtxSynchronize() {
    return call_in_context("cuCtxSynchronize", [&](Driver& all, Lock& lock, CUctx_st& context) {
        all.streams.drain(lock, context);
        return context.lost;
    });
}

// ---- Memory ---------------------------------------------------------------------------------

CUresult cuMemAlloc_v2(CUdeviceptr* at, size_t bytes) {
    return call_in_context("cuMemAlloc_v2", [&](Driver& all, Lock&, CUctx_st& context) {
        return allocate(all, context, Kind::device, at, bytes, 0);
    });
}

CUresult cuMemAllocManaged(CUdeviceptr* at, size_t bytes, unsigned flags) {
    return call_in_context("cuMemAllocManaged", [&](Driver& all, Lock&, CUctx_st& context) {
        if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
            return CUDA_ERROR_INVALID_VALUE;
        return allocate(all, context, Kind::managed, at, bytes, flags);
    });
}

CUresult cuMemFree_v2(CUdeviceptr at) {
    return call_in_context("cuMemFree_v2", [&](Driver& all, Lock& lock, CUctx_st&) {
        return free_memory(all, lock, at, Kind::device, Kind::managed);
    });
}

CUresult cuMemAllocHost_v2(void** at, size_t bytes) {
    return call_in_context("cuMemAllocHost_v2", [&](Driver& all, Lock&, CUctx_st& context) {
        return allocate_host(all, context, at, bytes, 0);
    });
}

CUresult cuMemHostAlloc(void** at, size_t bytes, unsigned flags) {
    return call_in_context("cuMemHostAlloc", [&](Driver& all, Lock&, CUctx_st& context) {
        return allocate_host(all, context, at, bytes, flags);
    });
}

CUresult cuMemFreeHost(void* at) {
    return call_in_context("cuMemFreeHost", [&](Driver& all, Lock& lock, CUctx_st&) {
        return free_memory(all, lock, address(at), Kind::host, Kind::host);
    });
}

CUresult cuMemHostRegister_v2(void* at, size_t bytes, unsigned flags) {
    constexpr unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    return call_in_context("cuMemHostRegister_v2", [&](Driver& all, Lock&, CUctx_st& context) {
        if (!at || bytes == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
        return all.orders.registers ? all.memory.hold(&context, at, bytes, flags)
                                    : CUDA_ERROR_NOT_SUPPORTED;
    });
}

CUresult cuMemHostUnregister(void* at) {
    return call_in_context("cuMemHostUnregister", [&](Driver& all, Lock& lock, CUctx_st&) {
        all.contexts.drain_all(lock);
        return all.memory.free(address(at), Kind::registered, Kind::registered)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned flags) {
    return call_in_context("cuMemHostGetDevicePointer_v2", [&](Driver& all, Lock&, CUctx_st&) {
        auto const range = all.memory.find(address(host));
        bool const registered = range && range->kind == Kind::registered;
        bool const is_mapped = registered && (range->flags & CU_MEMHOSTREGISTER_DEVICEMAP) != 0;
        if (flags != 0 || !range || (range->kind != Kind::host && !is_mapped))
            return CUDA_ERROR_INVALID_VALUE;
        Address const far = registered && all.orders.mapped_apart ? Memory::apart : 0;
        return give<CUdeviceptr>(device, address(host) | far);
    });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr at) {
    return call(
        "cuPointerGetAttribute",
        [&](Driver& all, Lock&) {
            auto range = all.memory.find(Reach::near_of(at));
            if (!range && all.orders.freed_known()) range = all.memory.find_freed(at);
            return range && data ? attribute_of(*range, attribute, at, data)
                                 : CUDA_ERROR_INVALID_VALUE;
        },
        false);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, size_t* bytes, CUdeviceptr at) {
    return call_in_context("cuMemGetAddressRange_v2", [&](Driver& all, Lock&, CUctx_st&) {
        auto const range = all.memory.find(at);
        if (!range || range->kind == Kind::registered) return CUDA_ERROR_NOT_FOUND;
        if (begin) *begin = range->begin;
        if (bytes) *bytes = range->bytes;
        return CUDA_SUCCESS;
    });
}

// ---- For tests ------------------------------------------------------------------------------

void pretended_order(char const* orders) { driver().orders.replace(orders); }
long pretended_calls() { return driver().orders.calls; }
long pretended_operations() { return driver().orders.operations; }
