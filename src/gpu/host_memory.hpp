// Memory of the host that a driver has registered: copies go to and from there at the speed of the
// bus, by themselves, and programs of the device reach it. Users: gpu_device.hpp.
#pragma once
#include "gpu/gpu_driver.hpp"
#include "gpu/held_ranges.hpp"
#include "schedule/port.hpp"
#include "system/mapping.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace sluice {

/// Of one driver, whose devices share it: what one context registers is registered for all. Any
/// thread. Outlives its windows.
class HostMemory {
public:
    static constexpr Bytes window_bytes = Bytes{4} << 20;

    explicit HostMemory(GpuDriver& driver) noexcept : driver_(driver) {}

    /// Registers the pages in which the memory lies, each once; they stay until the process ends.
    /// What the driver refuses is not asked for again: copies reach it all the same, only slower.
    /// Blocks for a tenth of a millisecond a MiB at first.
    void hold(GpuContext context, std::span<std::byte> memory);
    /// Of a moment; never null.
    [[nodiscard]] std::shared_ptr<HeldRanges const> held() const;
    /// Device::take_window().
    [[nodiscard]] std::shared_ptr<std::byte> take_window(GpuContext context);

private:
    bool register_pages(GpuContext context, Span pages);
    void note(Span pages, bool is_registered);
    std::byte* take_idle_window();
    std::byte* make_window(GpuContext context);
    void give_back(std::byte* window) noexcept;

    GpuDriver& driver_;
    std::mutex registering_;    ///< One at a time; copies need not wait for it.
    mutable std::mutex mutex_;  ///< Of all below.
    std::shared_ptr<HeldRanges const> held_ = std::make_shared<HeldRanges const>();
    std::vector<Mapping> windows_;
    std::vector<std::byte*> idle_windows_;
    bool refuses_windows_ = false;
};

}  // namespace sluice
