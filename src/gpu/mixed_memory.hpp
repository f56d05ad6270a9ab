// Memory of which parts lie on the host and parts on devices: a datatype with absolute addresses
// may name all of them. To the schedule it is one device.
#pragma once
#include "gpu/device_at.hpp"
#include "gpu/host_memory.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace sluice {

/// Any thread. Outlives its windows. Has no state but for the devices that it has met.
class MixedMemory final : public Device {
public:
    /// `where`: asked for addresses of a user's memory. `ring`: called when a copy has ended in
    /// which no device took part. Both by the thread that calls start().
    MixedMemory(std::function<DeviceAt(Offset)> where, std::function<void()> ring);

    /// What lies on the host is copied when it returns.
    std::unique_ptr<DeviceWork> start(Direction way, std::vector<Rows> rows) override;
    /// With all devices that copies have met so far.
    void hold(std::span<std::byte> memory) override;
    /// Of the first device that a copy has met; null before that.
    std::shared_ptr<std::byte> take_window() override;
    [[nodiscard]] Bytes window_bytes() const noexcept override { return HostMemory::window_bytes; }

private:
    void note(Device& device);
    std::vector<Device*> met();

    std::function<DeviceAt(Offset)> const where_;
    std::function<void()> const ring_;
    std::mutex mutex_;
    std::vector<Device*> met_;
};

}  // namespace sluice
