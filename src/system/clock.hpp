// The monotonic clock of the system, as a Clock and in nanoseconds, and seconds as its functions
// take them.
#pragma once
#include "schedule/port.hpp"

#include <chrono>
#include <cmath>
#include <ctime>

namespace sluice {

class SteadyClock final : public Clock {
public:
    double now() override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
};

/// Nanoseconds of the monotonic clock, which all processes of a node share.
[[nodiscard]] inline std::int64_t clock_now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[nodiscard]] inline timespec timespec_of(double seconds) noexcept {
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    return time;
}

}  // namespace sluice
