// The arithmetic of devices: the bandwidths and latencies that a profile states come out of the
// clock; profiles as text; rules of faults.
#include "device/model/device.hpp"
#include "device/model/fault_rules.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cerrno>
#include <queue>

namespace sluice::device_test {
namespace {

struct Load {
    Direction direction;
    bool random;
    Bytes bytes;
    std::int32_t depth;
};

/// Accesses one after the other in each of `depth` places, each begun `late` after the one before.
double measured(DeviceProfile const& profile, Load const& load, double late = 0,
                DeviceGrace grace = {}) {
    constexpr int count = 4000, warm = 400;
    DeviceClock clock(profile, grace);
    std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
    for (int i = 0; i < load.depth; ++i) free_at.push(0);
    double begin = 0, end = 0;
    for (int i = 0; i < warm + count; ++i) {
        double const now = free_at.top() + late;
        free_at.pop();
        // Random places are far apart, so that none is near another.
        Offset const place = load.random ? (i * 7919LL % 5003) * 64 : i;
        end = std::max(now, clock.serve(now, {load.direction, 1, place * load.bytes, load.bytes}));
        if (i == warm) begin = end;
        free_at.push(end);
    }
    return static_cast<double>((count - 1) * load.bytes) / (end - begin);
}

void expect_near(double got, double wanted, std::string const& what) {
    EXPECT_NEAR(got / wanted, 1, 0.01) << what << ": " << got << " for " << wanted;
}

TEST(Device, StatedBandwidthsComeOut) {
    for (DeviceProfile const& p : device_profiles()) {
        for (auto const direction : {Direction::read, Direction::write}) {
            auto const& way = direction == Direction::read ? p.read : p.write;
            std::string const what = p.name + " " + describe(direction);
            expect_near(measured(p, {direction, false, p.sequential_bytes, p.queue_depth}),
                        way.sequential, what);
            expect_near(measured(p, {direction, true, p.random_bytes, p.queue_depth}), way.random,
                        what);
        }
    }
}

TEST(Device, WhatIsPredictedComesOut) {
    for (DeviceProfile const& p : device_profiles()) {
        for (bool const random : {false, true}) {
            for (Bytes const bytes : {4096, 65536, 1 << 20}) {
                for (std::int32_t const depth : {1, 2, 4, 64}) {
                    Load const load{Direction::read, random, bytes, depth};
                    expect_near(measured(p, load),
                                device_bandwidth(p, Direction::read, random, bytes, depth),
                                p.name + " " + std::to_string(bytes) + " " + std::to_string(depth) +
                                    (random ? " random" : ""));
                }
            }
        }
    }
}

TEST(Device, ACallerThatComesBackInTimeHasQueued) {
    DeviceProfile const p = device_named("nvm").value();
    Load const load{Direction::write, true, 4096, 1};
    double const wanted = device_bandwidth(p, Direction::write, true, 4096, 1);
    expect_near(measured(p, load, 50e-6, {200e-6, 0}), wanted, "within the grace");
    EXPECT_LT(measured(p, load, 50e-6), 0.8 * wanted);
    EXPECT_LT(measured(p, load, 250e-6, {200e-6, 0}), 0.5 * wanted);
}

RC_GTEST_PROP(DeviceProperties, NothingEndsBeforeItsTimeNorFasterThanTheBytes, ()) {
    DeviceProfile p;
    p.read.sequential = *rc::gen::inRange(1, 1000) * 1e6;
    p.write.sequential = *rc::gen::inRange(1, 1000) * 1e6;
    p.latency = *rc::gen::inRange(0, 1000) * 1e-6;
    p.queue_depth = *rc::gen::inRange(1, 9);
    DeviceClock clock(p);
    double now = 0, last = 0, first = -1;
    double bytes_seconds = 0;
    for (int i = 0; i < 100; ++i) {
        now += *rc::gen::inRange(0, 3000) * 1e-6;
        if (first < 0) first = now;
        auto const direction = *rc::gen::element(Direction::read, Direction::write);
        Bytes const bytes = *rc::gen::inRange(0, 1 << 20);
        double const own = static_cast<double>(bytes) * costs_of(p, direction).byte_seconds;
        double const done = clock.serve(now, {direction, 0, 0, bytes});
        bytes_seconds += own;
        RC_ASSERT(done >= now + p.latency + own - 1e-9);
        RC_ASSERT(done >= first + bytes_seconds - 1e-9);  // One after the other.
        RC_ASSERT(done >= last);                          // First come, first served.
        last = done;
    }
    RC_ASSERT(clock.flush(now) >= last);
}

RC_GTEST_PROP(DeviceProperties, AnyPossibleProfileComesOut, ()) {
    DeviceProfile p;
    p.queue_depth = *rc::gen::inRange(1, 17);
    p.latency = *rc::gen::inRange(1, 200) * 1e-6;
    p.sequential_bytes = Bytes{1} << *rc::gen::inRange(16, 22);
    p.random_bytes = Bytes{1} << *rc::gen::inRange(12, 17);
    p.read.sequential = p.write.sequential = *rc::gen::inRange(10, 300) * 1e6;
    p.read.random = p.write.random = *rc::gen::inRange(1, 100) * 1e5;
    std::string error;
    auto const checked = device_described(describe(p), error);
    RC_PRE(checked.has_value());
    double const random =
        measured(*checked, {Direction::read, true, p.random_bytes, p.queue_depth});
    double const sequential =
        measured(*checked, {Direction::write, false, p.sequential_bytes, p.queue_depth});
    RC_ASSERT(std::abs(random / p.read.random - 1) < 0.02);
    RC_ASSERT(std::abs(sequential / p.write.sequential - 1) < 0.02);
}

TEST(Device, SeveralStreamsAreSequentialAsLongAsTheyAreKnown) {
    DeviceProfile const p = device_named("hdd").value();
    auto const seconds = [&](int streams) {
        DeviceClock clock(p);
        double now = 0;
        for (Offset i = 0; i < 50; ++i) {
            for (std::uint64_t s = 0; s < static_cast<std::uint64_t>(streams); ++s)
                now = clock.serve(now, {Direction::read, s, i << 16, 1 << 16});
        }
        return now / (50.0 * streams);
    };
    double const alone = seconds(1);
    EXPECT_NEAR(seconds(p.streams), alone, 0.2 * alone);
    EXPECT_GT(seconds(p.streams + 1), 5 * alone);
}

TEST(Device, AccessesUnderWayMayArriveOutOfOrder) {
    DeviceProfile const p = device_named("hdd").value();
    DeviceClock clock(p);
    double now = clock.serve(0, {Direction::read, 0, 0, 4096});
    double const begin = now;
    for (Offset const i : {2, 1, 4, 3, 6, 5})
        now = clock.serve(now, {Direction::read, 0, i * 4096, 4096});
    EXPECT_LT(now - begin, 6 * (p.latency + 1e-4));
}

/// Callers write a mebibyte each, side by side; their memory is not aligned to pages, so that the
/// system cuts off the last page of each, and those pages may all come one after the other.
TEST(Device, TheRestOfALongAccessFollowsIt) {
    constexpr Bytes page = 4096, part = Bytes{1} << 20;
    DeviceProfile const p = device_named("hdd").value();
    for (Offset const callers : {1, 2, 4, 7}) {
        for (bool const backwards : {false, true}) {
            DeviceClock clock(p);
            double const begin = clock.serve(0, {Direction::write, 0, 0, page});
            double now = begin;
            for (Offset i = 0; i < 2 * callers; ++i) {
                bool const is_rest = i >= callers;
                Offset const caller = backwards ? callers - 1 - i % callers : i % callers;
                Offset const at = caller * part + (is_rest ? part - page : 0);
                now = clock.serve(now, {Direction::write, 0, at, is_rest ? page : part - page});
            }
            double const bytes = static_cast<double>(callers * part) / p.write.sequential;
            double const latencies = static_cast<double>(2 * callers) * p.latency;
            EXPECT_LT(now - begin, bytes + latencies + 1e-4)
                << callers << (backwards ? " callers, backwards" : " callers");
        }
    }
}

TEST(Device, ProfilesAsText) {
    std::string error;
    for (DeviceProfile const& p : device_profiles()) {
        auto const again = device_described(describe(p), error);
        ASSERT_TRUE(again) << error;
        EXPECT_EQ(describe(*again), describe(p));
    }
    auto const large = device_described("[device]\npreset = nvm\nsequential_bytes = 16G\n"
                                        "read_bandwidth = 1234567890.123\n",
                                        error);
    ASSERT_TRUE(large) << error;
    auto const same = device_described(describe(*large), error);
    ASSERT_TRUE(same) << error;
    EXPECT_EQ(same->sequential_bytes, large->sequential_bytes);
    EXPECT_EQ(same->read.sequential, large->read.sequential);
    auto const changed =
        device_described("[device]\npreset = hdd\nqueue_depth = 2 # two heads\n", error);
    ASSERT_TRUE(changed) << error;
    EXPECT_EQ(changed->queue_depth, 2);
    EXPECT_EQ(changed->read.sequential, device_named("hdd")->read.sequential);
}

TEST(Device, WhatNoDeviceCanBe) {
    auto const complaint = [](std::string const& lines) {
        std::string error;
        EXPECT_FALSE(device_described("[device]\n" + lines, error)) << lines;
        return error;
    };
    EXPECT_NE(complaint("name = nothing").find("read_bandwidth"), std::string::npos);
    EXPECT_NE(complaint("preset = tape").find("tape"), std::string::npos);
    EXPECT_NE(complaint("preset = hdd\nqueue_depth = 0").find("queue_depth"), std::string::npos);
    EXPECT_NE(complaint("preset = hdd\nlatency_seconds = 1").find("latency"), std::string::npos);
    EXPECT_NE(complaint("preset = hdd\nrandom_read_bandwidth = 1e9").find("random_read"),
              std::string::npos);
    EXPECT_NE(complaint("preset = hdd\nsequential_bytes = 0\nrandom_read_bandwidth = 0\n"
                        "random_write_bandwidth = 0\nlatency_seconds = inf")
                  .find("latency"),
              std::string::npos);
    EXPECT_NE(complaint("preset = hdd\ncolour = red").find("colour"), std::string::npos);
}

std::vector<int> hits(std::string const& text, FaultPlace place, int count) {
    std::string error;
    auto const rules = parse_faults(text, error);
    EXPECT_TRUE(rules) << error;
    FaultRules faults(rules.value_or(std::vector<FaultRule>{}));
    std::vector<int> all;
    for (int i = 0; i < count; ++i) {
        Fault const fault = faults.next(place);
        all.push_back(fault.hit ? fault.error : -1);
    }
    return all;
}

TEST(FaultRules, HitWhatTheySay) {
    using All = std::vector<int>;
    EXPECT_EQ(hits("write:ENOSPC:after=2", FaultPlace::write, 5),
              (All{-1, -1, ENOSPC, ENOSPC, ENOSPC}));
    EXPECT_EQ(hits("write:ENOSPC", FaultPlace::read, 2), (All{-1, -1}));
    EXPECT_EQ(hits("read:EIO:every=3", FaultPlace::read, 5), (All{EIO, -1, -1, EIO, -1}));
    EXPECT_EQ(hits("write:short:times=1,write:EDQUOT:after=1:every=2", FaultPlace::write, 5),
              (All{0, EDQUOT, -1, EDQUOT, -1}));
    EXPECT_EQ(hits("all:EINTR:times=1", FaultPlace::sync, 2), (All{EINTR, -1}));
}

TEST(FaultRules, WhatIsNotUnderstood) {
    for (std::string const text :
         {"", "write", "write:", "write:EWHAT", "paint:EIO", "write:EIO:after", "write:EIO:after=",
          "write:EIO:after=x", "write:EIO:every=0", "fsync:short", "write:EIO,", "write:EIO:a=1"}) {
        std::string error;
        EXPECT_FALSE(parse_faults(text, error)) << text;
        EXPECT_NE(error, "") << text;
    }
}

}  // namespace
}  // namespace sluice::device_test
