// A list that only grows, so that it is read without a lock. See driver_devices.hpp.
#include "gpu/driver_devices.hpp"

#include <utility>

namespace sluice {

DriverDevices::DriverDevices(std::unique_ptr<GpuDriver> driver, std::function<void()> ring)
    : driver_(std::move(driver)),
      ring_(std::move(ring)),
      memory_(*driver_),
      points_(*driver_, ring_) {}

DriverDevices::~DriverDevices() {
    for (Known* known = first_; known;) delete std::exchange(known, known->next);
}

DeviceAt DriverDevices::at(Offset address) {
    GpuPlace const place = driver_->where(address);
    if (place.kind != GpuPlace::Kind::device) return {};
    return {&device_of(place.context), place.allocation};
}

std::shared_ptr<StreamPoint> DriverDevices::end_of(GpuStream stream, Error& error) {
    if (char const* const why_not = driver_->cannot_copy()) {
        error = {.status = Status::unsupported, .what = why_not};
        return nullptr;
    }
    return points_.end_of(stream, error);
}

DriverDevices::Known* DriverDevices::find(GpuContext context) const noexcept {
    Known* known = first_.load(std::memory_order_acquire);
    while (known && known->device.context() != context) known = known->next;
    return known;
}

Device& DriverDevices::device_of(GpuContext context) {
    if (Known* const known = find(context)) return known->device;
    std::lock_guard const lock(making_);
    if (Known* const known = find(context)) return known->device;
    auto* const made = new Known{{*driver_, context, memory_, ring_}, first_};
    first_.store(made, std::memory_order_release);
    return made->device;
}

}  // namespace sluice
