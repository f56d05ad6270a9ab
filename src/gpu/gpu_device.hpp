// A device as the schedule sees it (schedule/port.hpp), by way of its vendor's driver.
#pragma once
#include "gpu/copy_lane.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sluice {

/// One context of a driver. Any thread. Outlives its copies and windows; those of a program are
/// never destroyed, because its driver may end before.
class GpuDevice final : public Device {
public:
    /// `ring`: see CopyLane. Driver and memory live longer.
    GpuDevice(GpuDriver& driver, GpuContext context, HostMemory& memory,
              std::function<void()> const& ring);

    /// Returns at once where the host's memory is registered; else it may wait for the copy.
    std::unique_ptr<DeviceWork> start(Direction way, std::vector<Rows> rows) override;
    void hold(std::span<std::byte> memory) override;
    std::shared_ptr<std::byte> take_window() override;
    [[nodiscard]] Bytes window_bytes() const noexcept override { return HostMemory::window_bytes; }
    [[nodiscard]] GpuContext context() const noexcept { return context_; }

private:
    GpuDriver& driver_;
    GpuContext const context_;
    HostMemory& memory_;
    std::function<void()> const ring_;
    CopyLane to_host_, to_device_;
};

}  // namespace sluice
