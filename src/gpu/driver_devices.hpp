// The devices of one driver, each made when the program first shows memory of it. Users: gpus.cpp.
#pragma once
#include "gpu/device_at.hpp"
#include "gpu/gpu_device.hpp"
#include "gpu/stream_points.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace sluice {

/// Any thread. Outlives the copies and windows of its devices.
class DriverDevices {
public:
    /// `ring`: see CopyLane.
    DriverDevices(std::unique_ptr<GpuDriver> driver, std::function<void()> ring);
    ~DriverDevices();
    DriverDevices(DriverDevices const&) = delete;
    DriverDevices& operator=(DriverDevices const&) = delete;

    /// Managed memory counts as the host's. Does not block.
    [[nodiscard]] DeviceAt at(Offset address);
    /// Where the end of a stream of the program is now. Null, with an error, where the driver says
    /// no.
    std::shared_ptr<StreamPoint> end_of(GpuStream stream, Error& error);

private:
    struct Known {
        GpuDevice device;
        Known* next;
    };
    [[nodiscard]] Known* find(GpuContext context) const noexcept;
    Device& device_of(GpuContext context);

    std::unique_ptr<GpuDriver> const driver_;
    std::function<void()> const ring_;
    HostMemory memory_;
    StreamPoints points_;
    std::mutex making_;
    std::atomic<Known*> first_{nullptr};
};

}  // namespace sluice
