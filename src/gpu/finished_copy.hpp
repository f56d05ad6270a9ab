// A copy that was finished when it began: nothing was to be copied by a device, or it could not
// begin. Users: gpu_device.cpp, mixed_memory.cpp.
#pragma once
#include "schedule/port.hpp"

namespace sluice {

class FinishedCopy final : public DeviceWork {
public:
    explicit FinishedCopy(Error const& error = {}) noexcept : error_(error) {}
    [[nodiscard]] bool finished() override { return true; }
    void wait() override {}
    [[nodiscard]] Error error() const override { return error_; }

private:
    Error const error_;
};

}  // namespace sluice
