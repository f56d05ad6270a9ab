// Contexts, streams and events of the pretended driver. A stream is a queue of operations that a
// thread carries out later. What an operation waits for in other streams is known when it is put
// into its queue: events, and the default stream's order with all streams that did not decline it
// (CU_STREAM_NON_BLOCKING). All of this is guarded by one mutex; operations run without it.
#pragma once
#include "pretended_memory.hpp"
#include "pretended_orders.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <thread>

/// An operation is known by its stream and its number there.
struct Mark {
    std::shared_ptr<CUstream_st> stream;
    std::uint64_t number = 0;
    [[nodiscard]] bool is_reached() const;
};

struct Operation {
    std::function<CUresult()> work;  ///< Empty: it only marks a place in the queue.
    std::vector<Mark> waits;
};

struct CUstream_st {
    CUctx_st* context = nullptr;
    bool blocking = true, closing = false;
    std::deque<Operation> queue;
    std::uint64_t put = 0, done = 0;
};

struct CUctx_st {
    CUdevice device = 0;
    bool alive = true;
    CUresult lost = CUDA_SUCCESS;
    std::shared_ptr<CUstream_st> legacy;                ///< The default stream.
    std::vector<std::shared_ptr<CUstream_st>> streams;  ///< The others, until they are empty.
};

struct CUevent_st {
    CUctx_st* context = nullptr;
    Mark mark;
};

inline bool Mark::is_reached() const { return !stream || stream->done >= number; }

namespace pretended {

using Lock = std::unique_lock<std::mutex>;

/// A function of the program that a stream calls must not call the driver.
inline thread_local bool in_host_function = false;

class Streams {
public:
    explicit Streams(Orders& orders) : orders_(orders) {}

    std::mutex mutex;

    std::shared_ptr<CUstream_st> create(CUctx_st& context, bool blocking) {
        auto stream = std::make_shared<CUstream_st>();
        stream->context = &context, stream->blocking = blocking;
        std::thread([this, stream] { serve(stream); }).detach();
        return stream;
    }
    void add(std::shared_ptr<CUstream_st> const& stream) {
        stream->context->streams.push_back(stream);
        known_.insert(stream.get());
    }
    /// Null for a handle of none.
    std::shared_ptr<CUstream_st> find(CUstream handle) const {
        if (!known_.contains(handle)) return nullptr;
        for (auto const& stream : handle->context->streams)
            if (stream.get() == handle) return stream;
        return nullptr;
    }
    /// What is in its queue is still carried out.
    void close(std::shared_ptr<CUstream_st> const& stream) {
        known_.erase(stream.get());
        stream->closing = true;
        changed_.notify_all();
    }

    Mark put(std::shared_ptr<CUstream_st> const& stream, std::function<CUresult()> work,
             Mark const& also = {}) {
        Operation operation{std::move(work), {also}};
        CUctx_st& context = *stream->context;
        if (stream == context.legacy) {
            for (auto const& other : context.streams)
                if (other->blocking) operation.waits.push_back({other, other->put});
        } else if (stream->blocking) {
            operation.waits.push_back({context.legacy, context.legacy->put});
        }
        stream->queue.push_back(std::move(operation));
        ++stream->put;
        changed_.notify_all();
        return {stream, stream->put};
    }
    void wait(Lock& lock, Mark const& mark) {
        changed_.wait(lock, [&] { return mark.is_reached(); });
    }
    /// All that was put into the context's streams up to now.
    void drain(Lock& lock, CUctx_st const& context) {
        std::vector<Mark> marks{{context.legacy, context.legacy->put}};
        for (auto const& stream : context.streams) marks.push_back({stream, stream->put});
        for (Mark const& mark : marks) wait(lock, mark);
    }

private:
    /// The thread of a stream.
    void serve(std::shared_ptr<CUstream_st> const& stream) {
        Lock lock(mutex);
        for (;;) {
            changed_.wait(lock, [&] { return !stream->queue.empty() || stream->closing; });
            if (stream->queue.empty()) break;
            Operation const operation = std::move(stream->queue.front());
            stream->queue.pop_front();
            for (Mark const& mark : operation.waits) wait(lock, mark);
            carry_out(lock, *stream->context, operation);
            ++stream->done;
            changed_.notify_all();
        }
        std::erase(stream->context->streams, stream);
    }
    void carry_out(Lock& lock, CUctx_st& context, Operation const& operation) {
        if (!operation.work || context.lost) return;
        lock.unlock();
        if (orders_.delay > 0)
            std::this_thread::sleep_for(std::chrono::microseconds(orders_.delay));
        CUresult code = orders_.failure_of("late", true);
        if (!code) code = operation.work();
        lock.lock();
        if (code && !context.lost) context.lost = code;
    }

    Orders& orders_;
    std::condition_variable changed_;
    std::set<CUstream_st const*> known_;
};

/// Contexts, which threads they are current of, and events. Contexts stay, so that what is asked
/// about one that was destroyed has an answer.
class Contexts {
public:
    explicit Contexts(Streams& streams) : streams_(streams) {}

    CUctx_st* create(CUdevice device) {
        auto& context = *all_.emplace_back(std::make_unique<CUctx_st>());
        context.device = device;
        context.legacy = streams_.create(context, true);
        return &context;
    }
    [[nodiscard]] bool is_known(CUcontext handle) const {
        for (auto const& context : all_)
            if (context.get() == handle) return context->alive;
        return false;
    }
    void destroy(Lock& lock, CUctx_st& context, Memory& memory) {
        streams_.drain(lock, context);
        context.alive = false;
        for (auto const& stream : std::vector(context.streams)) streams_.close(stream);
        streams_.close(context.legacy);
        memory.free_all_of(&context);
        if (!current().empty() && current().back() == &context) current().pop_back();
    }
    /// That of a device which its users share; made when the first takes it.
    CUctx_st* retain_primary(CUdevice device) {
        Primary& primary = primaries_[device];
        if (primary.users++ == 0) primary.context = create(device);
        return primary.context;
    }
    /// The context that has lost its last user; null: none. False: it had no user.
    bool release_primary(CUdevice device, CUctx_st*& unused) {
        Primary& primary = primaries_[device];
        unused = primary.users == 1 ? primary.context : nullptr;
        return primary.users > 0 && primary.users-- > 0;
    }
    /// Waits for all streams of all contexts, as freeing memory does.
    void drain_all(Lock& lock) {
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i]->alive) streams_.drain(lock, *all_[i]);
    }
    /// Of the calling thread, the last of them.
    static std::vector<CUctx_st*>& current() {
        static thread_local std::vector<CUctx_st*> stack;
        return stack;
    }

    CUevent add_event(CUctx_st& context) {
        auto event = std::make_unique<CUevent_st>();
        event->context = &context;
        CUevent const handle = event.get();
        events_[handle] = std::move(event);
        return handle;
    }
    CUevent_st* find_event(CUevent handle) {
        auto const found = events_.find(handle);
        return found == events_.end() ? nullptr : found->second.get();
    }
    void remove_event(CUevent handle) { events_.erase(handle); }

private:
    struct Primary {
        CUctx_st* context = nullptr;
        int users = 0;
    };

    Streams& streams_;
    std::vector<std::unique_ptr<CUctx_st>> all_;
    std::map<CUdevice, Primary> primaries_;
    std::map<CUevent, std::unique_ptr<CUevent_st>> events_;
};

}  // namespace pretended
