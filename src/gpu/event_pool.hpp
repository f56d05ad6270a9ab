// Events of a device, used again and again. Users: work_state.hpp, copy_lane.hpp,
// stream_points.hpp.
#pragma once
#include "gpu/gpu_driver.hpp"

#include <mutex>
#include <vector>

namespace sluice {

/// Any thread. Outlives what is taken from it.
class EventPool {
public:
    EventPool(GpuDriver& driver, GpuContext context) noexcept
        : driver_(driver),
          context_(context) {}
    ~EventPool() {
        for (GpuEvent const event : idle_) driver_.destroy_event(context_, event);
    }
    EventPool(EventPool const&) = delete;
    EventPool& operator=(EventPool const&) = delete;

    [[nodiscard]] GpuDriver& driver() const noexcept { return driver_; }
    [[nodiscard]] GpuContext context() const noexcept { return context_; }

    GpuResult take(GpuEvent& event) {
        std::lock_guard const lock(mutex_);
        if (!idle_.empty()) {
            event = idle_.back();
            idle_.pop_back();
            return {};
        }
        idle_.reserve(made_ + 1);
        GpuResult const result = driver_.make_event(context_, event);
        if (!result.failed()) ++made_;
        return result;
    }
    void give_back(GpuEvent event) noexcept {
        std::lock_guard const lock(mutex_);
        idle_.push_back(event);  // There is room for all of them.
    }

private:
    GpuDriver& driver_;
    GpuContext const context_;
    std::mutex mutex_;
    std::vector<GpuEvent> idle_;
    std::size_t made_ = 0;
};

}  // namespace sluice
