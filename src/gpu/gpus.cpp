// Drivers are looked for when libraries have been loaded since. Nothing here is ever destroyed:
// threads outlive main(), and drivers end before. See gpus.hpp.
#include "gpu/gpus.hpp"

#include "gpu/cuda_driver.hpp"
#include "gpu/driver_devices.hpp"
#include "gpu/hip_driver.hpp"
#include "gpu/level_zero_driver.hpp"
#include "gpu/loaded_library.hpp"
#include "gpu/mixed_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

std::atomic<std::function<void()> const*> ring_of_ends{nullptr};

void ring_for_end() {
    if (auto const* const ring = ring_of_ends.load(std::memory_order_acquire)) (*ring)();
}

using FindDriver = std::unique_ptr<GpuDriver> (*)(std::vector<std::string> const&);
/// Those with streams in the order of ProgramStream::Type.
constexpr std::array<FindDriver, 3> ways_to_find{find_cuda_driver, find_hip_driver,
                                                 find_level_zero_driver};

class Gpus {
public:
    DeviceAt at(Offset address) {
        look_for_drivers();
        for (auto const& driver : drivers_) {
            DriverDevices* const devices = driver.load(std::memory_order_acquire);
            if (!devices) continue;
            DeviceAt const found = devices->at(address);
            if (found.device) return found;
        }
        return {};
    }

    std::shared_ptr<StreamPoint> end_of(ProgramStream const& stream, Error& error) {
        look_for_drivers();
        auto const place = static_cast<std::size_t>(stream.type) - 1;
        DriverDevices* const devices = drivers_[place].load(std::memory_order_acquire);
        if (devices) return devices->end_of(reinterpret_cast<GpuStream>(stream.handle), error);
        error = {.status = Status::argument,
                 .what = "the file has a stream, and the program has not loaded its driver"};
        return nullptr;
    }

    bool has_driver() {
        look_for_drivers();
        return std::ranges::any_of(drivers_, [](auto const& driver) { return driver != nullptr; });
    }

private:
    /// A library may be loaded meanwhile: then all are looked at again the next time.
    void look_for_drivers() {
        std::uint64_t const count = loaded_library_count();
        if (count == seen_.load(std::memory_order_acquire)) return;
        std::lock_guard const lock(looking_);
        auto const paths = loaded_library_paths();
        for (std::size_t i = 0; i < drivers_.size(); ++i) {
            if (drivers_[i].load(std::memory_order_relaxed)) continue;
            if (auto driver = ways_to_find[i](paths)) {
                drivers_[i].store(new DriverDevices(std::move(driver), ring_for_end),
                                  std::memory_order_release);
            }
        }
        seen_.store(count, std::memory_order_release);
    }

    std::atomic<std::uint64_t> seen_{0};
    std::mutex looking_;
    std::array<std::atomic<DriverDevices*>, ways_to_find.size()> drivers_{};
};

Gpus& gpus() {
    static auto* const only = new Gpus;
    return *only;
}

/// Memory that malloc() took from here on is the host's, and short calls need not look further.
auto const heap_begin = reinterpret_cast<std::uintptr_t>(sbrk(0));

bool is_in_heap(void const* memory) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(memory);
    return address >= heap_begin && address < reinterpret_cast<std::uintptr_t>(sbrk(0));
}

}  // namespace

bool has_gpu_driver() { return gpus().has_driver(); }

Device* device_of(void const* address) {
    if (address == nullptr || is_in_heap(address)) return nullptr;
    return gpus().at(reinterpret_cast<Offset>(address)).device;
}

Device& mixed_memory() {
    static auto* const only =
        new MixedMemory([](Offset address) { return gpus().at(address); }, ring_for_end);
    return *only;
}

std::shared_ptr<StreamPoint> end_of(ProgramStream const& stream, Error& error) {
    return gpus().end_of(stream, error);
}

void ring_by(std::function<void()> ring) {
    ring_of_ends.store(new std::function<void()> const(std::move(ring)), std::memory_order_release);
}

}  // namespace sluice
