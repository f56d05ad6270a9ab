// The device behind all files of a store: its clock makes every caller wait until the access would
// be done, its faults hit some. Thread-safe; knows nothing of FUSE.
#pragma once
#include "device/fuse/layouts.hpp"
#include "device/fuse/store.hpp"
#include "device/model/device.hpp"
#include "device/model/fault_rules.hpp"

#include <cerrno>
#include <ctime>
#include <mutex>
#include <sys/prctl.h>

namespace sluice::device {

inline double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

inline void sleep_until(double when) {
    // The default slack of 50 us would be most of a short access.
    thread_local bool const precise = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
    (void)precise;
    auto const seconds = time_t(when);
    timespec const t{seconds, long((when - double(seconds)) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
}

class Emulation {
public:
    Emulation(std::unique_ptr<Store> its_store, DeviceProfile const& profile,
              std::vector<FaultRule> faults, std::int32_t servers)
        : store(std::move(its_store)),
          layouts(servers),
          clock_(profile, grace),
          faults_(std::move(faults)) {}

    /// Returns when the access is done that arrived then.
    void serve(double arrival, DeviceAccess const& access) {
        double done = 0;
        {
            std::scoped_lock const lock(mutex_);
            done = clock_.serve(arrival, access);
        }
        sleep_until(done);
    }
    /// Returns when everything is done that arrived so far.
    void flush() {
        double done = 0;
        {
            std::scoped_lock const lock(mutex_);
            done = clock_.flush(now());
        }
        sleep_until(done);
    }
    Fault fault(FaultPlace place) {
        std::scoped_lock const lock(mutex_);
        return faults_.next(place);
    }
    [[nodiscard]] DeviceProfile const& profile() const { return clock_.profile(); }

    std::unique_ptr<Store> const store;
    Layouts layouts;

private:
    /// What a reply and the next request cost on their way through the kernel, and copies.
    static constexpr DeviceGrace grace{200e-6, 1e-9};

    std::mutex mutex_;
    DeviceClock clock_;
    FaultRules faults_;
};

}  // namespace sluice::device
