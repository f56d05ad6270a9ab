// How long a process makes progress when its messages are complete.
#include "transport/linger.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct SetClock final : Clock {
    double time = 1;
    double now() override { return time; }
};

constexpr std::uint64_t little = Linger::connection_takes, much = little + 1;

TEST(Linger, goes_on_for_a_while_after_more_than_a_connection_takes) {
    SetClock clock;
    Linger linger;
    EXPECT_FALSE(linger.goes_on(true, little, clock));
    EXPECT_FALSE(linger.goes_on(false, much, clock));  // Busy in any case.
    EXPECT_TRUE(linger.goes_on(true, much, clock));
    clock.time += Linger::seconds * 0.9;
    EXPECT_TRUE(linger.goes_on(true, much, clock));
    clock.time += Linger::seconds * 0.2;
    EXPECT_FALSE(linger.goes_on(true, much, clock));
    clock.time += 1;
    EXPECT_FALSE(linger.goes_on(true, much, clock));
    EXPECT_TRUE(linger.goes_on(true, much + much, clock));
}

TEST(Linger, begins_anew_when_the_process_was_busy_again) {
    SetClock clock;
    Linger linger;
    EXPECT_TRUE(linger.goes_on(true, much, clock));
    clock.time += Linger::seconds * 0.9;
    EXPECT_FALSE(linger.goes_on(false, much, clock));
    clock.time += Linger::seconds * 0.9;
    EXPECT_TRUE(linger.goes_on(true, much, clock));
}

}  // namespace
}  // namespace sluice
