// What is known of work in a stream, up to an event, by its owner and by the thread that finds its
// end (end_watch.hpp).
#pragma once
#include "base/error.hpp"
#include "gpu/event_pool.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace sluice {

/// Whoever finds the end of the work first notes it. The event is free when nobody asks any more.
class WorkState {
public:
    explicit WorkState(EventPool& events) noexcept : events_(events) {}
    ~WorkState() {
        if (event_) events_.give_back(event_);
    }
    WorkState(WorkState const&) = delete;
    WorkState& operator=(WorkState const&) = delete;

    /// The stream's end now is the end of the work. Once, before another thread knows of it.
    GpuResult begin(GpuStream stream) {
        return events_.driver().record(events_.context(), stream, event_);
    }
    /// Before begin(), which then needs no memory.
    GpuResult take_event() { return events_.take(event_); }
    /// Rows that a program of the device reads meanwhile.
    void keep(std::shared_ptr<std::byte> table) { tables_.push_back(std::move(table)); }
    /// Before the end is found: it will be of this error.
    void fail(Error const& error) noexcept {
        std::lock_guard const lock(mutex_);
        error_ = first_of(error_, error);
    }
    void fail(GpuResult const& result) noexcept { fail(error_of(result)); }

    /// No error that was told before is lost.
    void finish(GpuResult const& result) noexcept {
        Error const error = error_of(result);
        std::lock_guard const lock(mutex_);
        if (is_done()) return;
        error_ = first_of(error_, error);
        done_.store(1, std::memory_order_release);
        done_.notify_all();
    }
    [[nodiscard]] bool is_done() const noexcept {
        return done_.load(std::memory_order_acquire) != 0;
    }
    void wait() const noexcept { done_.wait(0, std::memory_order_acquire); }
    /// Sleeps in the driver until the stream is past the event, and tells who wants to know. Once.
    void await() {
        finish(events_.driver().synchronize(events_.context(), event_));
        std::unique_lock lock(mutex_);
        is_told_ = true;
        auto const then = std::exchange(then_, nullptr);
        lock.unlock();
        if (then) then();
    }
    /// Calls `then` at the end of the work, by the thread in await(), or now. Once.
    void call_at_end(std::function<void()> then) {
        std::unique_lock lock(mutex_);
        if (!is_told_) {
            then_ = std::move(then);
            return;
        }
        lock.unlock();
        then();
    }
    /// Asks the driver.
    [[nodiscard]] bool look() {
        if (is_done()) return true;
        bool is_past = false;
        GpuResult const result = events_.driver().query(events_.context(), event_, is_past);
        if (!is_past && !result.failed()) return false;
        finish(result);
        return true;
    }
    /// Of one that is done: it changes no more.
    [[nodiscard]] Error const& error() const noexcept { return error_; }

private:
    [[nodiscard]] Error error_of(GpuResult const& result) const noexcept {
        if (!result.failed()) return {};
        try {
            return events_.driver().error_of(result);
        } catch (std::bad_alloc const&) {
            return {.status = Status::no_memory};
        }
    }

    EventPool& events_;
    GpuEvent event_ = nullptr;
    std::vector<std::shared_ptr<std::byte>> tables_;
    std::mutex mutex_;  ///< Of the end.
    Error error_;
    std::function<void()> then_;
    bool is_told_ = false;  ///< await() has come to its end.
    std::atomic<std::uint32_t> done_{0};
};

}  // namespace sluice
