// The arithmetic of a device. See device.hpp.
//
// An access takes a channel for its latency, with a seek where it is random, and then for its
// bytes, which pass one access after the other. With `q` accesses of `s` bytes under way it brings
//     min(1 / t, q s / (latency + seek + s t)) bytes a second, t being the time of a byte;
// both times are found by solving this for the bandwidths that the profile states at full depth.
#include "device/model/device.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace sluice {
namespace {

DeviceProfile::Way const& way_of(DeviceProfile const& profile, Direction direction) noexcept {
    return direction == Direction::write ? profile.write : profile.read;
}

/// An access follows an end that is as many times its own length away, or less: those under way
/// arrive in any order.
constexpr Bytes lengths_near = 8;

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

/// Near the end of one of the last accesses, not of the last one only: the system cuts a long
/// access in two, and the short rests of several may come one after the other, each at the end of
/// its own long part.
bool DeviceClock::Stream::is_near(DeviceAccess const& access) const noexcept {
    auto const known = std::span(ends).first(std::min(taken, remembered));
    Bytes const near = lengths_near * access.bytes;
    return file == access.file && std::ranges::any_of(known, [&](Offset end) {
               return access.offset >= end - near && access.offset <= end + near;
           });
}

void DeviceClock::Stream::take(DeviceAccess const& access, std::uint64_t number) noexcept {
    used = number;
    ends[taken++ % remembered] = access.offset + access.bytes;
}

/// Notes where the access ends, too.
bool DeviceClock::follows(DeviceAccess const& access) {
    if (streams_.empty()) return false;
    ++accesses_;
    auto const found = std::ranges::find_if(
        streams_, [&](Stream const& stream) { return stream.is_near(access); });
    bool const is_known = found != streams_.end();
    Stream& stream = is_known ? *found : *std::ranges::min_element(streams_, {}, &Stream::used);
    if (!is_known) stream = {.file = access.file};
    stream.take(access, accesses_);
    return is_known;
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
