// The model of a storage device: when is an access done that arrives now? Pure arithmetic in
// seconds, used by the FUSE device, by the simulated machine and by the emulated storage.
#pragma once
#include "base/description.hpp"
#include "base/request.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// A device as its user knows it. Bandwidths are in bytes a second, times in seconds.
struct DeviceProfile {
    /// Of one direction.
    struct Way {
        double sequential = 0;  ///< Bandwidth of accesses that follow one another.
        double random = 0;      ///< Of those that do not; 0: a place is as good as another.
    };
    std::string name = "own";
    Way read, write;
    Bytes sequential_bytes = 0;    ///< Accesses of this size have the sequential bandwidth, all
                                   ///< channels busy. 0: those without end, beside their latency.
    Bytes random_bytes = 4096;     ///< Accesses of this size have the random bandwidth.
    double latency = 0;            ///< Of each access, before its bytes.
    std::int32_t queue_depth = 1;  ///< Channels: accesses whose latencies overlap.
    std::int32_t streams = 4;      ///< So many streams of accesses are known; who follows one is
                                   ///< sequential.
};

/// What the model makes of one direction.
struct DeviceCosts {
    double byte_seconds = 0;  ///< Bytes of all channels pass one after the other.
    double seek_seconds = 0;  ///< Of a random access, beside the latency.
};
[[nodiscard]] DeviceCosts costs_of(DeviceProfile const& profile, Direction direction) noexcept;

/// Bytes a second of accesses of one kind, `depth` under way at any time.
[[nodiscard]] double device_bandwidth(DeviceProfile const& profile, Direction direction,
                                      bool random, Bytes bytes, std::int32_t depth) noexcept;
/// From the arrival to the end of an access at an idle device.
[[nodiscard]] double device_latency(DeviceProfile const& profile, Direction direction, bool random,
                                    Bytes bytes) noexcept;

/// Built in: hdd, ssd, nvm.
[[nodiscard]] std::span<DeviceProfile const> device_profiles() noexcept;
[[nodiscard]] std::optional<DeviceProfile> device_named(std::string const& name);

/// One number of a profile, as a description names it.
struct DeviceKey {
    char const* name;
    char const* meaning;
};
[[nodiscard]] std::span<DeviceKey const> device_keys() noexcept;

/// Takes the keys of the section [device] out; those not given stay. Complains to the description,
/// also of numbers that no device can have together.
void take_device(Description& description, DeviceProfile& profile);
/// The profile of a description's text; complaints go to `error`.
[[nodiscard]] std::optional<DeviceProfile> device_described(std::string const& text,
                                                            std::string& error);
/// As a description says it.
[[nodiscard]] std::string describe(DeviceProfile const& profile);
/// What it comes to: bandwidths and latencies of usual accesses, for readers.
[[nodiscard]] std::string describe_speed(DeviceProfile const& profile);

/// One access to the device.
struct DeviceAccess {
    Direction direction = Direction::write;
    std::uint64_t file = 0;  ///< Accesses of different files never follow one another.
    Offset offset = 0;
    Bytes bytes = 0;
};

/// How late a caller may come back whose access has ended, and still counts as having queued: what
/// the emulation costs is not idle time of the device.
struct DeviceGrace {
    double seconds = 0;
    double byte_seconds = 0;
};

/// The state of one device. Not thread-safe.
class DeviceClock {
public:
    explicit DeviceClock(DeviceProfile const& profile, DeviceGrace grace = {});

    /// When an access is done that arrives at `now`. Arrivals should come in order.
    double serve(double now, DeviceAccess const& access);
    /// When all is done that was accepted until now, and the device has said so.
    double flush(double now);

    [[nodiscard]] DeviceProfile const& profile() const noexcept { return profile_; }

private:
    struct Stream {
        static constexpr std::size_t remembered = 8;
        std::uint64_t file = 0;
        std::uint64_t used = 0;
        std::size_t taken = 0;
        std::array<Offset, remembered> ends{};  ///< Of the last accesses, in a ring.

        [[nodiscard]] bool is_near(DeviceAccess const& access) const noexcept;
        void take(DeviceAccess const& access, std::uint64_t number) noexcept;
    };
    bool follows(DeviceAccess const& access);
    double& channel_for(double now);

    DeviceProfile profile_;
    DeviceGrace grace_;
    DeviceCosts read_, write_;
    std::vector<double> channels_;  ///< When each is free.
    std::vector<Stream> streams_;
    double bytes_passed_ = 0;  ///< When the last byte of all accesses so far has passed.
    std::uint64_t accesses_ = 0;
};

}  // namespace sluice
