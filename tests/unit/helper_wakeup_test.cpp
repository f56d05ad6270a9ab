// No work is left to a helper that sleeps, in every order in which the helper and a thread with
// work can meet, and each store on which this rests is needed: where one of them may take effect
// after later loads, some order loses work.
#include "mpi/progress/helper_wakeup.hpp"

#include "drawn.hpp"
#include "weak_memory.hpp"

#include <gtest/gtest.h>

namespace sluice::helper_wakeup_test {
namespace {

using weak_memory::Run;
using State = HelperState::State;

struct Memory {
    template <class T> using Atomic = weak_memory::Atomic<T>;
    using Events = Atomic<std::uint32_t>;

    static std::uint32_t load(Events const& events) { return events; }
    static void notify(Events& events) { ++events; }
    static void wait(Events& events, std::uint32_t seen, double seconds_max) {
        bool const is_long = seconds_max > 1;
        Run::current().sleep_until(
            [&events, seen, is_long] { return !is_long || events.in_memory() != seen; });
    }
};

/// In the order in which a Process makes them.
enum Variable { calls, inbox_full, busy, drivers, state, watches, network, doorbell, none };

/// What the helper and its callers share: the class, and what Progress has around it.
struct Process {
    HelperWakeup<Memory> wakeup;
    Memory::Atomic<SourceNeed> network{SourceNeed::nothing};
    Memory::Atomic<std::uint32_t> doorbell{0};
    weak_memory::Mutex mutex;
    HelperState helper;
    double now = 1;

    /// As Progress::help(), with a clock by which each look is late for whatever it waits for.
    void help() {
        while (!Run::current().is_over()) {
            now += 1;
            State const next = wakeup.look(helper, now);
            if (next == State::driving)
                work();
            else if (next != State::leaving)
                wakeup.wait(HelperState::looks_soon(next) ? 1 : 3600);
        }
    }
    void work() {
        mutex.lock();
        wakeup.set_busy(false);
        wakeup.set_inbox_full(false);
        mutex.unlock();
    }
    /// As Progress::help_once() where nothing moves, until a doorbell or the network wakes it.
    void sleep_amid_work() {
        while (!Run::current().is_over()) {
            std::uint32_t const seen = doorbell;
            SourceNeed const need = network;
            if (need != SourceNeed::nothing) network = SourceNeed::nothing;  // It makes progress.
            if (wakeup.watch(SourceNeed::nothing, [&] { return network.load(); }))
                Run::current().sleep_until([this, seen] { return doorbell.in_memory() != seen; });
            wakeup.watch_all();
        }
    }
    void call_helper() {
        if (!wakeup.looks_soon()) wakeup.call();
    }
    [[nodiscard]] bool is_work_left() const {
        return wakeup.has_work() || network != SourceNeed::nothing;
    }
};

using Part = void (*)(Process&);

void helper(Process& process) { process.help(); }
void sleeping_helper(Process& process) { process.sleep_amid_work(); }

/// As Progress::submit().
void submit(Process& process) {
    process.wakeup.set_inbox_full(true);
    process.call_helper();
}
/// As Progress::begin(), of what does not end at once.
void begin(Process& process) {
    process.mutex.lock();
    process.wakeup.set_busy(true);
    process.mutex.unlock();
    process.call_helper();
}
/// As Progress::drive() by a caller whose own operation ends before those of other threads.
void drive(Process& process) {
    process.wakeup.begin_driving();
    process.mutex.lock();
    process.wakeup.set_busy(true);
    process.mutex.unlock();
    if (process.wakeup.end_driving()) process.call_helper();
}
/// As Progress::poll_all(), which takes an operation out of the inbox and calls nobody.
void take(Process& process) {
    process.mutex.lock();
    if (process.wakeup.inbox_full()) {
        process.wakeup.set_busy(true);
        process.wakeup.set_inbox_full(false);
    }
    process.mutex.unlock();
}
void take_in_the_wrong_order(Process& process) {
    process.mutex.lock();
    if (process.wakeup.inbox_full()) {
        process.wakeup.set_inbox_full(false);
        process.wakeup.set_busy(true);
    }
    process.mutex.unlock();
}
/// A message that another thread sends while the helper sleeps amid other work.
void send(Process& process) {
    process.network = SourceNeed::descriptor;
    if (process.wakeup.watches_less_than(process.network)) ++process.doorbell;
}
void send_and_call_nobody(Process& process) { process.network = SourceNeed::descriptor; }

struct Result {
    int runs = 0, lost = 0;
};

/// All orders with at most so many detours (see weak_memory::walk), until one loses work.
Result meet(int detours, std::vector<Part> const& parts, bool with_inbox_full,
            Variable weakened = none) {
    Result result;
    result.runs = weak_memory::walk(detours, [&](std::vector<int> const& choices) {
        Run run(choices, weakened);
        Process process;
        EXPECT_EQ(run.variables(), none);
        if (with_inbox_full) process.wakeup.set_inbox_full(true);
        std::vector<std::function<void()>> bodies;
        for (Part const part : parts) bodies.push_back([part, &process] { part(process); });
        run.run(bodies, [&] { result.lost += process.is_work_left(); });
        return result.lost > 0 ? std::vector<Run::Step>{} : run.steps();
    });
    return result;
}

TEST(HelperWakeup, NoWorkIsLeftToAHelperThatSleeps) {
    for (auto const& [name, parts, with_inbox_full] :
         std::vector<std::tuple<char const*, std::vector<Part>, bool>>{
             {"submit", {helper, submit}, false},
             {"begin", {helper, begin}, false},
             {"drive", {helper, drive}, false},
             {"take", {helper, take}, true},
             {"submit while another drives", {helper, drive, submit}, false},
             {"take while another submits", {helper, submit, take}, false},
             {"send", {sleeping_helper, send}, false}}) {
        if (testing::is_left_out()) continue;
        auto const [runs, lost] = meet(parts.size() == 2 ? 3 : 1, parts, with_inbox_full);
        EXPECT_EQ(lost, 0) << name;
        EXPECT_GT(runs, 30) << name;
    }
}

TEST(HelperWakeup, EachStoreMustComeBeforeTheLoadsThatFollow) {
    for (auto const& [name, parts, variable] :
         std::vector<std::tuple<char const*, std::vector<Part>, Variable>>{
             {"inbox_full", {helper, submit}, inbox_full},
             {"state, submit", {helper, submit}, state},
             {"busy", {helper, begin}, busy},
             {"state, begin", {helper, begin}, state},
             {"drivers", {helper, drive}, drivers},
             {"state, drive", {helper, drive}, state},
             {"watches", {sleeping_helper, send}, watches},
             {"network", {sleeping_helper, send}, network}}) {
        if (testing::is_left_out()) continue;
        EXPECT_EQ(meet(2, parts, false, variable).lost, 1) << name;
    }
}

TEST(HelperWakeup, WithoutACallOrInTheWrongOrderWorkIsLeft) {
    EXPECT_EQ(meet(2, {helper, take_in_the_wrong_order}, true).lost, 1);
    EXPECT_EQ(meet(2, {sleeping_helper, send_and_call_nobody}, false).lost, 1);
}

}  // namespace
}  // namespace sluice::helper_wakeup_test
