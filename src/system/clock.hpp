// The monotonic clock of the system, as a Clock.
#pragma once
#include "schedule/port.hpp"

#include <chrono>

namespace sluice {

class SteadyClock final : public Clock {
public:
    double now() override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
};

}  // namespace sluice
