// The state machines of progress: what a driving thread does between attempts, and when the helper
// drives, looks for work and sleeps.
#include "mpi/progress/progress_states.hpp"

#include "mpi/progress/stall_texts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <tuple>

namespace sluice::progress_states_test {
namespace {

using Action = PollState::Action;
using State = HelperState::State;

constexpr PollState::Limits caller{.poll_seconds = 30e-6, .sleep_seconds = PollState::short_sleep};
constexpr PollState::Limits helper{.poll_seconds = 0, .sleep_seconds = 1};

PollState::Attempt nothing_at(double now) { return {.now = now}; }

TEST(PollState, PollsThenAnnouncesThenSleeps) {
    PollState state(caller);
    EXPECT_EQ(state.after(nothing_at(1)), Action::poll);
    EXPECT_EQ(state.after(nothing_at(1 + 20e-6)), Action::poll);
    EXPECT_EQ(state.after(nothing_at(1 + 40e-6)), Action::announce);
    EXPECT_EQ(state.after(nothing_at(1 + 50e-6)), Action::sleep);
    EXPECT_EQ(state.seconds(), PollState::short_sleep);
    state.woke();
    EXPECT_EQ(state.after(nothing_at(2)), Action::announce);  // It polled for long enough.
    EXPECT_EQ(state.after({.moved = true}), Action::attempt);
    EXPECT_EQ(state.after(nothing_at(3)), Action::poll);
}

TEST(PollState, AHelperSleepsShortlyOnceThenForLong) {
    PollState state(helper);
    EXPECT_EQ(state.after(nothing_at(1)), Action::announce);
    EXPECT_FALSE(state.is_long());
    EXPECT_EQ(state.after(nothing_at(1)), Action::sleep);
    state.woke();
    EXPECT_EQ(state.after(nothing_at(1)), Action::announce);
    EXPECT_TRUE(state.is_long());
    EXPECT_EQ(state.after(nothing_at(1)), Action::sleep);
    EXPECT_EQ(state.seconds(), 1);
    state.reset();
    EXPECT_EQ(state.after(nothing_at(2)), Action::announce);
    EXPECT_FALSE(state.is_long());
}

TEST(PollState, AShortAnnouncementIsNotEnoughForALongSleep) {
    PollState state(helper);
    PollState::Attempt due = nothing_at(1);
    due.message_due = true;
    EXPECT_EQ(state.after(due), Action::announce);
    EXPECT_EQ(state.after(due), Action::sleep);
    state.woke();
    EXPECT_EQ(state.after(due), Action::announce);
    EXPECT_FALSE(state.is_long());
    EXPECT_EQ(state.after(nothing_at(1)), Action::announce);
    EXPECT_TRUE(state.is_long());
    EXPECT_EQ(state.after(nothing_at(1)), Action::sleep);
}

TEST(PollState, SleepsForADueMessageDoubleUpToTheShortOne) {
    PollState state(helper);
    PollState::Attempt due = nothing_at(1);
    due.message_due = true;
    double last = 0, total = 0;
    for (int sleep = 0; sleep < 40; ++sleep) {
        ASSERT_EQ(state.after(due), Action::announce);
        ASSERT_EQ(state.after(due), Action::sleep);
        ASSERT_GE(state.seconds(), last);
        last = state.seconds();
        total += last;
        state.woke();
    }
    EXPECT_EQ(last, PollState::short_sleep);
    EXPECT_LT(total, 40 * PollState::short_sleep);
}

/// Whatever attempts find: a sleep follows an announcement with nothing moved in between, a peer
/// that answers soon and a message that is due are waited for shortly, and work goes on at once.
RC_GTEST_PROP(PollState, NeverSleepsUnannouncedOrWhileThereIsWork, ()) {
    bool const helps = *rc::gen::arbitrary<bool>();
    PollState state(helps ? helper : caller);
    double now = 1;
    bool announced = false, announced_for_long = false;
    for (int step = 0; step < 200; ++step) {
        now += 1e-6 * *rc::gen::inRange(0, 40);
        PollState::Attempt attempt{*rc::gen::weightedElement<bool>({{1, true}, {5, false}}),
                                   *rc::gen::weightedElement<bool>({{1, true}, {5, false}}),
                                   *rc::gen::arbitrary<bool>(), now};
        Action const action = state.after(attempt);
        RC_ASSERT((action == Action::attempt) == attempt.moved);
        if (attempt.moved) announced = announced_for_long = false;
        if (attempt.looks_again && !attempt.moved) RC_ASSERT(action == Action::poll);
        if (action == Action::announce) {
            announced = true;
            announced_for_long = state.is_long();
        }
        if (action != Action::sleep) continue;
        RC_ASSERT(announced && (announced_for_long || !state.is_long()));
        RC_ASSERT(state.seconds() > 0 && state.seconds() <= (helps ? 1 : PollState::short_sleep));
        if (attempt.message_due) RC_ASSERT(!state.is_long());
        announced = announced_for_long = false;
        state.woke();
    }
}

TEST(HelperState, DozesThenLeavesThenSleeps) {
    HelperState state;
    EXPECT_EQ(state.after({.has_work = true, .now = 1}), State::driving);
    EXPECT_EQ(state.after({.now = 2}), State::dozing);
    EXPECT_EQ(state.after({.now = 2.001}), State::dozing);
    EXPECT_EQ(state.after({.now = 2.003}), State::leaving);
    EXPECT_EQ(state.after({.now = 2.003}), State::asleep);
    EXPECT_EQ(state.after({.now = 9}), State::asleep);
    EXPECT_EQ(state.after({.called = true, .now = 10}), State::waiting);
    EXPECT_EQ(state.after({.now = 11}), State::dozing);
    EXPECT_EQ(state.after({.has_work = true, .now = 20}), State::driving);
}

TEST(HelperState, LeavesTheWorkToWhoWaitsAtOnce) {
    HelperState state;
    while (state.after({.now = 1}) != State::asleep) (void)state.after({.now = 2});
    EXPECT_EQ(state.after({.called = true, .has_work = true, .now = 3}), State::waiting);
    EXPECT_EQ(state.after({.has_work = true, .now = 3.00001}), State::waiting);
    EXPECT_NEAR(state.seconds(3.00001), HelperState::wait_seconds - 1e-5, 1e-9);
    EXPECT_EQ(state.after({.caller_drives = true, .now = 3.0001}), State::leaving);
    EXPECT_EQ(state.after({.caller_drives = true, .now = 3.0001}), State::asleep);
}

TEST(HelperState, DrivesWhatNobodyWaitsFor) {
    HelperState state;
    while (state.after({.now = 1}) != State::asleep) (void)state.after({.now = 2});
    EXPECT_EQ(state.after({.called = true, .has_work = true, .now = 3}), State::waiting);
    EXPECT_EQ(state.after({.has_work = true, .now = 3.0001}), State::driving);
}

TEST(HelperState, WorkIsSeenInEveryState) {
    for (int steps = 0; steps < 4; ++steps) {
        HelperState state;
        for (int step = 0; step < steps; ++step) (void)state.after({.now = step == 0 ? 1. : 2.});
        EXPECT_EQ(state.after({.has_work = true, .now = 3}), State::driving) << steps;
    }
}

TEST(StallTexts, AStallIsToldOnceAndAgainWhenItChanges) {
    using Texts = std::vector<std::string>;
    StallTexts stalls;
    EXPECT_EQ(stalls.unknown({"a waits for 1 and 2"}), Texts{"a waits for 1 and 2"});
    EXPECT_EQ(stalls.unknown({"a waits for 1 and 2"}), Texts{});
    EXPECT_EQ(stalls.unknown({"b", "a waits for 1 and 2"}), Texts{"b"});
    EXPECT_EQ(stalls.unknown({"a waits for 2", "b"}), Texts{"a waits for 2"});
    EXPECT_EQ(stalls.unknown({"a waits for 2", "b"}), Texts{});
}

}  // namespace
}  // namespace sluice::progress_states_test
