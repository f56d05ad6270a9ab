// A copy in a lane (copy_lane.hpp): what its owner and the lane's thread both know of it, and the
// owner's side of that.
#pragma once
#include "gpu/event_pool.hpp"
#include "schedule/port.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace sluice {

/// Whoever finds the end of the copy first notes it. The event is free when nobody asks any more.
class CopyState {
public:
    explicit CopyState(EventPool& events) noexcept : events_(events) {}
    ~CopyState() {
        if (event_) events_.give_back(event_);
    }
    CopyState(CopyState const&) = delete;
    CopyState& operator=(CopyState const&) = delete;

    /// Before the lane's thread knows it.
    GpuResult take_event() { return events_.take(event_); }
    [[nodiscard]] GpuEvent event() const noexcept { return event_; }
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
    std::atomic<std::uint32_t> done_{0};
};

class LaneCopy final : public DeviceCopy {
public:
    explicit LaneCopy(std::shared_ptr<CopyState> state) noexcept : state_(std::move(state)) {}
    /// The memory of a copy under way may not go.
    ~LaneCopy() override { state_->wait(); }
    [[nodiscard]] bool finished() override { return state_->look(); }
    void wait() override { state_->wait(); }
    [[nodiscard]] Error error() const override { return state_->error(); }

private:
    std::shared_ptr<CopyState> state_;
};

}  // namespace sluice
