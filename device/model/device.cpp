// The arithmetic of a device. See device.hpp.
//
// An access takes a channel for its latency, with a seek where it is random, and then for its
// bytes, which pass one access after the other. With `q` accesses of `s` bytes under way it brings
//     min(1 / t, q s / (latency + seek + s t)) bytes a second, t being the time of a byte;
// both times are found by solving this for the bandwidths that the profile states at full depth.
#include "device/model/device.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

DeviceProfile::Way const& way_of(DeviceProfile const& profile, Direction direction) noexcept {
    return direction == Direction::write ? profile.write : profile.read;
}

/// How far from an end an access still follows it, in lengths of the longest of the last few there:
/// those under way arrive in any order, and the system cuts them into unequal parts.
constexpr Bytes accesses_out_of_order = 8;

}  // namespace

DeviceCosts costs_of(DeviceProfile const& profile, Direction direction) noexcept {
    auto const& way = way_of(profile, direction);
    DeviceCosts costs;
    costs.byte_seconds = 1 / way.sequential;
    if (profile.sequential_bytes > 0) {
        auto const bytes = static_cast<double>(profile.sequential_bytes);
        double const turn = profile.queue_depth * bytes / way.sequential;
        costs.byte_seconds = std::min(costs.byte_seconds, (turn - profile.latency) / bytes);
    }
    if (way.random > 0) {
        auto const bytes = static_cast<double>(profile.random_bytes);
        double const turn = profile.queue_depth * bytes / way.random;
        costs.seek_seconds = turn - profile.latency - bytes * costs.byte_seconds;
    }
    return costs;
}

double device_latency(DeviceProfile const& profile, Direction direction, bool random,
                      Bytes bytes) noexcept {
    DeviceCosts const costs = costs_of(profile, direction);
    return profile.latency + (random ? costs.seek_seconds : 0) +
           static_cast<double>(bytes) * costs.byte_seconds;
}

double device_bandwidth(DeviceProfile const& profile, Direction direction, bool random, Bytes bytes,
                        std::int32_t depth) noexcept {
    double const turn = device_latency(profile, direction, random, bytes);
    auto const under_way = static_cast<double>(std::min(depth, profile.queue_depth));
    return std::min(1 / costs_of(profile, direction).byte_seconds,
                    under_way * static_cast<double>(bytes) / turn);
}

DeviceClock::DeviceClock(DeviceProfile const& profile, DeviceGrace grace)
    : profile_(profile),
      grace_(grace),
      read_(costs_of(profile, Direction::read)),
      write_(costs_of(profile, Direction::write)),
      channels_(static_cast<std::size_t>(profile.queue_depth),
                -std::numeric_limits<double>::infinity()),
      streams_(static_cast<std::size_t>(profile.streams)) {}

/// Notes where the access ends, too.
bool DeviceClock::follows(DeviceAccess const& access) {
    if (streams_.empty()) return false;
    Offset const end = access.offset + access.bytes;
    Stream* oldest = streams_.data();
    for (Stream& stream : streams_) {
        Bytes const usual_bytes = std::max(access.bytes, stream.usual_bytes / 2);
        Bytes const near = accesses_out_of_order * std::max(access.bytes, stream.usual_bytes);
        bool const close = stream.end >= 0 && stream.file == access.file &&
                           access.offset >= stream.end - near && access.offset <= stream.end + near;
        if (close) {
            stream = {access.file, std::max(stream.end, end), usual_bytes, ++accesses_};
            return true;
        }
        if (stream.used < oldest->used) oldest = &stream;
    }
    *oldest = {access.file, end, access.bytes, ++accesses_};
    return false;
}

/// Of the idle channels the one that was busy last: its caller may be the one that comes back. If
/// none is idle, the first to be free.
double& DeviceClock::channel_for(double now) {
    double* chosen = channels_.data();
    for (double& channel : channels_) {
        bool const better = channel <= now ? *chosen > now || channel > *chosen : channel < *chosen;
        if (better) chosen = &channel;
    }
    return *chosen;
}

double DeviceClock::serve(double now, DeviceAccess const& access) {
    DeviceCosts const& costs = access.direction == Direction::write ? write_ : read_;
    auto const bytes = static_cast<double>(access.bytes);
    double& channel = channel_for(now);
    double const late = grace_.seconds + grace_.byte_seconds * bytes;
    double const begin = now - channel < late ? channel : now;
    double const ready = begin + profile_.latency + (follows(access) ? 0 : costs.seek_seconds);
    double const done = std::max(ready, bytes_passed_) + bytes * costs.byte_seconds;
    channel = bytes_passed_ = done;
    return done;
}

double DeviceClock::flush(double now) {
    double done = std::max(now, bytes_passed_);
    for (double const channel : channels_) done = std::max(done, channel);
    return done + profile_.latency;
}

}  // namespace sluice
