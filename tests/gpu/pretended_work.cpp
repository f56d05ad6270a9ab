// What the pretended driver's streams are given: copies, kernels, functions of the program, and
// events. See pretended_cuda.cpp.
#include "pretended_driver.hpp"

#include <memory>

using namespace pretended;

struct CUfunc_st {
    CUctx_st* context;
    KnownKernel const* kernel;
};

struct CUmod_st {
    CUctx_st* context;
    std::string text;
};

namespace {

std::optional<Copy> straight(Driver& all, CUctx_st const& context, Address to, Named to_named,
                             Address from, Named from_named, std::size_t bytes) {
    auto const there = all.reach.locate(&context, to, bytes, to_named);
    auto const here = all.reach.locate(&context, from, bytes, from_named);
    return there && here ? std::optional(Copy{*there, *here, bytes}) : std::nullopt;
}

/// Puts a copy into a stream. Of memory that is not registered it is done when the call returns, as
/// the device reaches such memory by way of buffers of the driver.
CUresult start_copy(Driver& all, Lock& lock, CUctx_st const& context, CUstream handle,
                    std::optional<Copy> const& copy, bool blocks) {
    auto const stream = stream_of(all, context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    Mark const mark = all.streams.put(stream, [copy = *copy] { return copy.run(); });
    if (blocks || (copy->is_pageable() && !all.orders.pageable_async)) all.streams.wait(lock, mark);
    return stream->context->lost;
}

CUresult copy_async(char const* name, Address to, Named to_named, Address from, Named from_named,
                    std::size_t bytes, CUstream stream) {
    return call_in_context(name, [&](Driver& all, Lock& lock, CUctx_st& context) {
        auto const copy = straight(all, context, to, to_named, from, from_named, bytes);
        return start_copy(all, lock, context, stream, copy, false);
    });
}

/// On the default stream. Between devices CUDA does not wait for the end.
CUresult copy_now(char const* name, Address to, Named to_named, Address from, Named from_named,
                  std::size_t bytes) {
    return call_in_context(name, [&](Driver& all, Lock& lock, CUctx_st& context) {
        auto const copy = straight(all, context, to, to_named, from, from_named, bytes);
        bool const blocks = copy && !(copy->to.on_device && copy->from.on_device);
        return start_copy(all, lock, context, nullptr, copy, blocks);
    });
}

/// One side of a copy in two dimensions.
struct Side {
    CUmemorytype type;
    void const* host;
    CUdeviceptr device;
    std::size_t x, y, pitch;

    [[nodiscard]] std::optional<Place> locate(Driver& all, CUctx_st const& context,
                                              std::size_t width, std::size_t height) const {
        constexpr std::size_t largest_pitch = (std::size_t{1} << 31) - 1;
        if (pitch < x + width || pitch > largest_pitch) return {};
        bool const is_host = type == CU_MEMORYTYPE_HOST;
        if (!is_host && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED) return {};
        Address const begin = is_host ? address(host) : device;
        Named const named = is_host                        ? Named::as_host
                            : type == CU_MEMORYTYPE_DEVICE ? Named::as_device
                                                           : Named::as_either;
        return all.reach.locate(&context, begin + y * pitch + x, (height - 1) * pitch + width,
                                named);
    }
};

std::optional<Copy> in_two_dimensions(Driver& all, CUctx_st const& context,
                                      CUDA_MEMCPY2D const& copy) {
    std::size_t const width = copy.WidthInBytes, height = copy.Height;
    if (width == 0 || height == 0) return Copy{};
    Side const to{copy.dstMemoryType, copy.dstHost, copy.dstDevice,
                  copy.dstXInBytes,   copy.dstY,    copy.dstPitch};
    Side const from{copy.srcMemoryType, copy.srcHost, copy.srcDevice,
                    copy.srcXInBytes,   copy.srcY,    copy.srcPitch};
    auto const there = to.locate(all, context, width, height);
    auto const here = from.locate(all, context, width, height);
    if (!there || !here) return {};
    return Copy{*there, *here, width, height, copy.dstPitch, copy.srcPitch};
}

CUresult set_memory(char const* name, Address at, unsigned char value, std::size_t bytes,
                    CUstream handle, bool async) {
    return call_in_context(name, [&](Driver& all, Lock& lock, CUctx_st& context) {
        auto const place = all.reach.locate(&context, at, bytes, Named::as_device);
        auto const stream = stream_of(all, context, handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (!place) return CUDA_ERROR_INVALID_VALUE;
        Mark const mark = all.streams.put(stream, [=] {
            if (bytes > 0) std::memset(place->at, value, bytes);
            return CUDA_SUCCESS;
        });
        if (!async && !place->on_device) all.streams.wait(lock, mark);
        return context.lost;
    });
}

CUresult create_stream(char const* name, CUstream* stream, unsigned flags) {
    return call_in_context(name, [&](Driver& all, Lock&, CUctx_st& context) {
        if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
        auto const made = all.streams.create(context, flags == CU_STREAM_DEFAULT);
        all.streams.add(made);
        *stream = made.get();
        return CUDA_SUCCESS;
    });
}

/// Whether a text is one of kernels: its first lines say its version.
bool is_ptx(std::string_view text) {
    for (int line = 0; line < 10 && !text.empty(); ++line) {
        if (text.substr(0, text.find('\n')).find(".version") != std::string_view::npos) return true;
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    return false;
}

KnownKernel const* kernel_in(std::string_view text, std::string_view name) {
    for (KnownKernel const& kernel : known_kernels)
        if (kernel.name == name && text.find(name) != std::string_view::npos) return &kernel;
    return nullptr;
}

bool is_grid(unsigned x, unsigned y, unsigned z) {
    return x > 0 && y > 0 && z > 0 && x <= 2147483647U && y <= 65535 && z <= 65535;
}

bool is_block(unsigned x, unsigned y, unsigned z) {
    return x > 0 && y > 0 && z > 0 && x <= 1024 && y <= 1024 && z <= 64 && x * y * z <= 1024;
}

Parameters taken(KnownKernel const& kernel, void* const* parameters) {
    Parameters values;
    for (std::size_t i = 0; i < kernel.parameters; ++i)
        values.push_back(*static_cast<std::uint64_t const*>(parameters[i]));
    return values;
}

}  // namespace

// ---- Copies ---------------------------------------------------------------------------------

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy_now("cuMemcpy", to, Named::as_either, from, Named::as_either, bytes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyAsync", to, Named::as_either, from, Named::as_either, bytes, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, void const* from, size_t bytes) {
    return copy_now("cuMemcpyHtoD_v2", to, Named::as_device, address(from), Named::as_host, bytes);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
    return copy_now("cuMemcpyDtoH_v2", address(to), Named::as_host, from, Named::as_device, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy_now("cuMemcpyDtoD_v2", to, Named::as_device, from, Named::as_device, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, void const* from, size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyHtoDAsync_v2", to, Named::as_device, address(from), Named::as_host,
                      bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyDtoHAsync_v2", address(to), Named::as_host, from, Named::as_device,
                      bytes, stream);
}

CUresult cuMemcpy2DAsync_v2(CUDA_MEMCPY2D const* copy, CUstream stream) {
    return call_in_context("cuMemcpy2DAsync_v2", [&](Driver& all, Lock& lock, CUctx_st& context) {
        if (!copy) return CUDA_ERROR_INVALID_VALUE;
        auto const rows = in_two_dimensions(all, context, *copy);
        return start_copy(all, lock, context, stream, rows, false);
    });
}

CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char value, size_t bytes) {
    return set_memory("cuMemsetD8_v2", at, value, bytes, nullptr, false);
}

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream) {
    return set_memory("cuMemsetD8Async", at, value, bytes, stream, true);
}

// ---- Streams --------------------------------------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    return create_stream("cuStreamCreate", stream, flags);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
    return create_stream("cuStreamCreateWithPriority", stream, flags);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    return call_in_context("cuStreamDestroy_v2", [&](Driver& all, Lock&, CUctx_st&) {
        auto const stream = all.streams.find(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        all.streams.close(stream);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return call_of_stream("cuStreamQuery", handle, [&](Driver&, Lock&, auto const& stream) {
        return stream->done == stream->put ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuStreamSynchronize(CUstream handle) {
    return call_of_stream("cuStreamSynchronize", handle,
                          [&](Driver& all, Lock& lock, auto const& stream) {
                              all.streams.wait(lock, {stream, stream->put});
                              return stream->context->lost;
                          });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
    return call_of_stream("cuStreamGetCtx", handle, [&](Driver&, Lock&, auto const& stream) {
        if (!context) return CUDA_ERROR_INVALID_VALUE;
        *context = stream->context;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
    return call_of_stream("cuStreamWaitEvent", handle, [&](Driver& all, Lock&, auto const& stream) {
        CUevent_st const* const found = all.contexts.find_event(event);
        if (!found) return CUDA_ERROR_INVALID_HANDLE;
        if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
        all.streams.put(stream, nullptr, found->mark);
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
    return call_of_stream("cuLaunchHostFunc", handle, [&](Driver& all, Lock&, auto const& stream) {
        if (Contexts::current().empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (!function) return CUDA_ERROR_INVALID_VALUE;
        all.streams.put(stream, [=] {
            in_host_function = true;
            function(data);
            in_host_function = false;
            return CUDA_SUCCESS;
        });
        return CUDA_SUCCESS;
    });
}

// ---- Events ---------------------------------------------------------------------------------

CUresult cuEventCreate(CUevent* event, unsigned flags) {
    return call_in_context("cuEventCreate", [&](Driver& all, Lock&, CUctx_st& context) {
        if (!event || flags > 3) return CUDA_ERROR_INVALID_VALUE;
        *event = all.contexts.add_event(context);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
    return call_in_context("cuEventRecord", [&](Driver& all, Lock&, CUctx_st& context) {
        CUevent_st* const event = all.contexts.find_event(handle);
        auto const stream = stream_of(all, context, stream_handle);
        if (!event || !stream || stream->context != event->context)
            return CUDA_ERROR_INVALID_HANDLE;
        event->mark = all.streams.put(stream, nullptr);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventQuery(CUevent handle) {
    return call_of_event("cuEventQuery", handle, [&](Driver&, Lock&, CUevent_st const& event) {
        return event.mark.is_reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuEventSynchronize(CUevent handle) {
    return call_of_event("cuEventSynchronize", handle,
                         [&](Driver& all, Lock& lock, CUevent_st const& event) {
                             CUctx_st const* const context = event.context;
                             all.streams.wait(lock, Mark(event.mark));
                             return context->lost;
                         });
}

CUresult cuEventDestroy_v2(CUevent handle) {
    return call("cuEventDestroy_v2", [&](Driver& all, Lock&) {
        if (!all.contexts.find_event(handle)) return CUDA_ERROR_INVALID_HANDLE;
        all.contexts.remove_event(handle);
        return CUDA_SUCCESS;
    });
}

// ---- Kernels --------------------------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, void const* image) {
    return call_in_context("cuModuleLoadData", [&](Driver& all, Lock&, CUctx_st& context) {
        if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
        std::string_view const text(static_cast<char const*>(image));
        if (!is_ptx(text)) return CUDA_ERROR_INVALID_IMAGE;
        if (!all.orders.kernels && text.find(" test_") == std::string_view::npos)
            return CUDA_ERROR_INVALID_PTX;
        *module = new CUmod_st{&context, std::string(text)};
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, char const* name) {
    return call_in_context("cuModuleGetFunction", [&](Driver&, Lock&, CUctx_st&) {
        if (!function || !module || !name) return CUDA_ERROR_INVALID_VALUE;
        KnownKernel const* const kernel = kernel_in(module->text, name);
        if (!kernel) return CUDA_ERROR_NOT_FOUND;
        *function = new CUfunc_st{module->context, kernel};
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned,
                        CUstream handle, void** parameters, void** extra) {
    return call_in_context("cuLaunchKernel", [&](Driver& all, Lock&, CUctx_st& context) {
        auto const stream = stream_of(all, context, handle);
        if (!function || !stream || stream->context != &context || function->context != &context)
            return CUDA_ERROR_INVALID_HANDLE;
        if (extra) return CUDA_ERROR_NOT_SUPPORTED;
        if (!parameters || !is_grid(grid_x, grid_y, grid_z) || !is_block(block_x, block_y, block_z))
            return CUDA_ERROR_INVALID_VALUE;
        Kernel const run = function->kernel->run;
        all.streams.put(stream, [run, reach = all.reach, current = &context,
                                 values = taken(*function->kernel, parameters)] {
            return run(reach, current, values);
        });
        return CUDA_SUCCESS;
    });
}
