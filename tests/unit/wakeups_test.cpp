// Which policy the system has for a thread whose wake-ups must not preempt.
#include "system/wakeups.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <thread>

namespace sluice::wakeups_test {
namespace {

int policy_here() { return sched_getscheduler(0); }

/// The tests may run under another policy, which is kept.
struct UsualPolicy : ::testing::Test {
    void SetUp() override {
        if (policy_here() != SCHED_OTHER) GTEST_SKIP() << "started with another policy";
    }
};

/// What `look` returns in a thread that `wakeups` is for.
template <class Look> int in_thread(Wakeups& wakeups, Look look) {
    int found = -1;
    std::thread([&] {
        wakeups.begin();
        found = look();
        wakeups.end();
    }).join();
    return found;
}

TEST_F(UsualPolicy, AThreadPreemptsUntilItIsToldNotTo) {
    Wakeups wakeups;
    EXPECT_EQ(in_thread(wakeups, policy_here), SCHED_OTHER);
    int const told = in_thread(wakeups, [&] {
        wakeups.let_preempt(false);
        return policy_here();
    });
    EXPECT_EQ(told, SCHED_BATCH);
}

TEST_F(UsualPolicy, WhatWasToldBeforeTheThreadBeganHolds) {
    Wakeups wakeups;
    wakeups.let_preempt(false);
    EXPECT_EQ(in_thread(wakeups, policy_here), SCHED_BATCH);
}

TEST_F(UsualPolicy, AnotherThreadMayTakeItBack) {
    Wakeups wakeups;
    wakeups.let_preempt(false);
    int const found = in_thread(wakeups, [&] {
        std::thread([&] { wakeups.let_preempt(true); }).join();
        return policy_here();
    });
    EXPECT_EQ(found, SCHED_OTHER);
}

TEST(AnotherPolicy, IsKept) {
    Wakeups wakeups;
    wakeups.let_preempt(false);
    int found = -1;
    std::thread([&] {
        sched_param const none{};
        sched_setscheduler(0, SCHED_IDLE, &none);
        wakeups.begin();
        found = policy_here();
        wakeups.end();
    }).join();
    EXPECT_EQ(found, SCHED_IDLE);
}

TEST_F(UsualPolicy, AThreadThatEndedIsNotTouched) {
    Wakeups wakeups;
    in_thread(wakeups, policy_here);
    wakeups.let_preempt(false);
    EXPECT_EQ(policy_here(), SCHED_OTHER);
}

}  // namespace
}  // namespace sluice::wakeups_test
