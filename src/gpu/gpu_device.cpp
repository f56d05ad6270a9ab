// Each direction has a lane. See gpu_device.hpp.
#include "gpu/gpu_device.hpp"

#include "gpu/finished_copy.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

bool has_bytes(std::vector<Rows> const& rows) noexcept {
    return std::any_of(rows.begin(), rows.end(), [](Rows const& row) { return row.bytes() > 0; });
}

}  // namespace

GpuDevice::GpuDevice(GpuDriver& driver, GpuContext context, HostMemory& memory,
                     std::function<void()> const& ring)
    : driver_(driver),
      context_(context),
      memory_(memory),
      ring_(ring),
      to_host_(driver, context, memory, Direction::write, ring),
      to_device_(driver, context, memory, Direction::read, ring) {}

std::unique_ptr<DeviceWork> GpuDevice::start(Direction way, std::vector<Rows> rows) {
    Error error;
    if (has_bytes(rows)) {
        char const* const why_not = driver_.cannot_copy();
        if (!why_not)
            return (way == Direction::write ? to_host_ : to_device_).start(std::move(rows));
        error = {.status = Status::unsupported, .what = why_not};
    }
    auto copy = std::make_unique<FinishedCopy>(error);
    ring_();
    return copy;
}

void GpuDevice::hold(std::span<std::byte> memory) {
    if (!driver_.cannot_copy()) memory_.hold(context_, memory);
}

std::shared_ptr<std::byte> GpuDevice::take_window() {
    return driver_.cannot_copy() ? nullptr : memory_.take_window(context_);
}

}  // namespace sluice
