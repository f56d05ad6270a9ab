// What the functions of the pretended driver share: its parts, and what is done at each call.
#pragma once
#include "pretended_copies.hpp"
#include "pretended_streams.hpp"

namespace pretended {

struct Driver {
    Orders orders;
    Memory memory;
    Streams streams{orders};
    Contexts contexts{streams};
    Reach reach{memory, orders.mapped_apart};
    bool initialized = false;
};

/// Threads of streams use it until the process has ended.
inline Driver& driver() {
    static Driver& one = *new Driver;
    return one;
}

/// A call that needs no cuInit(). `counts`: `fail=any` means it as well.
template <class Body> CUresult call_early(char const* name, Body body, bool counts = true) {
    Driver& all = driver();
    CUresult code =
        in_host_function ? CUDA_ERROR_NOT_PERMITTED : all.orders.failure_of(name, counts);
    if (!code) {
        Lock lock(all.streams.mutex);
        code = body(all, lock);
    }
    all.orders.log(name, code);
    return code;
}

template <class Body> CUresult call(char const* name, Body body, bool counts = true) {
    return call_early(
        name,
        [&](Driver& all, Lock& lock) {
            return all.initialized ? body(all, lock) : CUDA_ERROR_NOT_INITIALIZED;
        },
        counts);
}

/// A call that needs a context which is current for the calling thread, and whole.
template <class Body> CUresult call_in_context(char const* name, Body body) {
    return call(name, [&](Driver& all, Lock& lock) {
        auto const& current = Contexts::current();
        if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        CUctx_st& context = *current.back();
        if (!context.alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        return context.lost ? context.lost : body(all, lock, context);
    });
}

/// The default stream of the context, or another; null: the handle is none's.
inline std::shared_ptr<CUstream_st> stream_of(Driver& all, CUctx_st const& context,
                                              CUstream handle) {
    return handle == nullptr || handle == CU_STREAM_LEGACY ? context.legacy
                                                           : all.streams.find(handle);
}

/// A call about a stream; only of the default one is a current context asked.
template <class Body> CUresult call_of_stream(char const* name, CUstream handle, Body body) {
    return call(name, [&](Driver& all, Lock& lock) {
        bool const legacy = handle == nullptr || handle == CU_STREAM_LEGACY;
        auto const& current = Contexts::current();
        if (legacy && current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        auto const stream = legacy ? current.back()->legacy : all.streams.find(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        return stream->context->lost ? stream->context->lost : body(all, lock, stream);
    });
}

template <class Body> CUresult call_of_event(char const* name, CUevent handle, Body body) {
    return call(name, [&](Driver& all, Lock& lock) {
        CUevent_st* const event = all.contexts.find_event(handle);
        if (!event) return CUDA_ERROR_INVALID_HANDLE;
        return event->context->lost ? event->context->lost : body(all, lock, *event);
    });
}

}  // namespace pretended
