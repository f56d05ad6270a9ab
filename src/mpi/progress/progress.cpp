// The loop of a caller that drives, the loop of the helper thread, and what both share. See
// progress.hpp.
#include "mpi/progress/progress.hpp"

#include "mpi/events/traced_wait.hpp"
#include "system/cpu_pause.hpp"
#include "system/environment.hpp"
#include "system/library_thread.hpp"
#include "system/log.hpp"

#include <chrono>
#include <sched.h>
#include <utility>

namespace sluice {
namespace {

constexpr double poll_seconds = 30e-6;
/// Where each rank has a core of its own and its caller does all work.
constexpr double long_poll_seconds = 1e-3;
constexpr double helper_sleep_seconds = 1.0;  ///< While only rings are awaited.
constexpr double sleep_until_called = 3600;
constexpr double idle_poke_seconds = 20e-6;
/// At the end of progress: for what peers need, and for what the network may hold back.
constexpr double finish_seconds = 5, linger_seconds = 0.1;

thread_local bool this_is_the_helper = false;

SharedMemory doorbell_memory() {
    if (settings().shared_memory) {
        if (auto shared = SharedMemory::create(4096); shared && shared->reserve({0, 4096})) {
            return std::move(*shared);
        }
    }
    auto own = SharedMemory::create_private(4096);
    if (!own) throw std::bad_alloc();
    return std::move(*own);
}

/// The program may have given the MPI many messages, and one call may move no more than one. But
/// peers wait for a thread that is not idle. Returns the time.
double poke_mpi(Wait const& wait, Clock& clock, bool is_idle) {
    double const until = is_idle ? clock.now() + idle_poke_seconds : 0;
    for (;;) {
        wait.poke();
        if (double const now = clock.now(); now >= until) return now;
    }
}

template <class IsLeft> void poll_while(Progress& progress, IsLeft const& is_left, double seconds) {
    SteadyClock clock;
    double const begin = clock.now();
    while (is_left() && clock.now() - begin < seconds) {
        progress.poll_all();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

bool is_helper() noexcept { return this_is_the_helper; }

Progress& Progress::instance() {
    static auto* const only = new Progress;  // Never destroyed: threads may outlive main().
    return *only;
}

Progress::Progress() : page_(doorbell_memory()), stalls_(clock_.now()) { exists_ = true; }

void Progress::submit(ProgressHook& hook, std::function<void()> append, bool background) {
    {
        std::lock_guard const lock(inbox_mutex_);
        inbox_.emplace_back(&hook, std::move(append));
        wakeup_.set_inbox_full(true);
    }
    if (hook.waits_for_devices()) helper_wakeups_.let_preempt(true);
    if (!background) return;
    call_helper();
    ring();
}

void Progress::call_helper() {
    if (wakeup_.looks_soon()) return;
    {
        std::lock_guard const lock(helper_mutex_);
        (void)has_helper();
    }
    wakeup_.call();
    ring_for_network();
}

/// A helper that drives other operations may sleep where the network does not wake it, or for
/// longer than what waits for room can.
void Progress::ring_for_network() noexcept {
    if (wakeup_.watches_less_than(network_.need())) ring();
}

/// A helper that drives may sleep for long, and would see too late what rings no doorbell.
void Progress::move_begun(ProgressHook& hook, std::unique_lock<std::mutex> lock) {
    begins_.store(begins_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bool const moved = ActiveHooks::move(hook);
    if (moved && wakeup_.drivers() > 0) ring();  // Another thread's operation may be complete.
    if (!hook.idle()) {
        keep(hook);
    } else if (drop(hook); !wakeup_.busy() || !hooks_.empty()) {
        lock.unlock();
        return ring_for_network();
    }
    if (wakeup_.looks_soon()) return;
    bool const must_look = hook.due() > 0 || hook.must_look_again();
    lock.unlock();
    call_helper();
    if (must_look) ring();
}

void Progress::poll_once(ProgressHook& hook) {
    if (!ActiveHooks::move(hook)) return;
    if (wakeup_.drivers() > 1) ring();  // As above.
    if (hook.idle()) drop(hook);
}

void Progress::use(EventSource& source) {
    std::lock_guard const lock(mutex_);
    network_.use(source, doorbell());
}

void Progress::forget(ProgressHook const& hook) {
    std::lock_guard const lock(mutex_);
    drop(hook);
}

/// A helper that took the core of a rank that computes would only copy a little earlier what that
/// rank can copy in its wait. submit() has chosen for what lies in the inbox.
void Progress::keep(ProgressHook& hook) {
    if (hooks_.add(hook)) {
        bool const waits = hooks_.any_waits_for_devices();
        if (waits || !wakeup_.inbox_full()) helper_wakeups_.let_preempt(waits);
    }
    note_busy();
    stalls_.moved(clock_);
}

void Progress::note_busy() { wakeup_.set_busy(!hooks_.empty() || network_.is_busy()); }

void Progress::drop(ProgressHook const& hook) {
    hooks_.remove(hook);
    network_.finish_sends();
    note_busy();
}

/// Does not wait for a thread that ends the helper.
bool Progress::can_help() {
    std::unique_lock const lock(helper_mutex_, std::try_to_lock);
    return lock.owns_lock() && has_helper();
}

/// Without one, operations advance in calls that wait and in tests, and the next operation that is
/// begun tries again to start it.
bool Progress::has_helper() {
    if (helper_.joinable() || stopping_) return helper_.joinable();
    if (settings().helper) {
        helper_ = library_thread_if_any("sluice-helper", [this] { help(); });
        if (!helper_.joinable())
            warn("cannot start the helper thread (see ulimit -l, -u, -v): I/O advances only inside "
                 "MPI_Wait and MPI_Test");
    }
    has_no_helper_ = !helper_.joinable();
    return helper_.joinable();
}

/// See HelperWakeup::set_inbox_full().
void Progress::take_inbox() {
    std::lock_guard const lock(inbox_mutex_);
    for (auto& [hook, append] : inbox_) {
        append();
        keep(*hook);
    }
    inbox_.clear();
    wakeup_.set_inbox_full(false);
}

bool Progress::progress() {
    bool moved = wakeup_.inbox_full();
    if (moved) take_inbox();
    moved |= network_.progress();
    moved |= hooks_.move_all();
    if (moved) {
        hooks_.remove_idle();
        stalls_.moved(clock_);
    }
    if (hooks_.empty()) network_.finish_sends();
    note_busy();
    return moved;
}

void Progress::drive(Wait const& wait) {
    wakeup_.begin_driving();
    std::unique_lock lock(mutex_);
    // Also when a function of the wait throws: the helper waits for the last of those who drive.
    struct Leaving {
        Progress& progress;
        std::unique_lock<std::mutex>& held;
        ~Leaving() { progress.stop_driving(std::move(held)); }
    } const leaving{*this, lock};
    EventWaiter waiter(doorbell());
    PollState state(
        {.poll_seconds = wait.polls_long && may_spin_ ? long_poll_seconds : poll_seconds,
         .sleep_seconds = PollState::short_sleep});
    TracedWait traced(wait.reason);
    double poke_at = clock_.now() + PollState::short_sleep;
    bool is_idle = false;  // It has just slept, and nothing rang.
    for (;;) {
        std::uint32_t const seen = doorbell().events.load(std::memory_order_seq_cst);
        PollState::Attempt attempt = make_attempt();
        traced.after_attempt(attempt.moved, [&](TraceEvent& event) { hooks_.describe(event); });
        if (attempt.moved && wakeup_.drivers() > 1) ring();  // See move_begun().
        if (wait.done && wait.done()) return;
        attempt.message_due |= wait.mpi_often;
        lock.unlock();
        if (wait.mpi_done && wait.mpi_done()) return;
        if (wait.part && wait.part()) attempt.moved = true;
        attempt.now = clock_.now();
        traced.seen(attempt);
        if (wait.poke && attempt.now >= poke_at)
            poke_at = poke_mpi(wait, clock_, is_idle) + PollState::short_sleep;
        PollState::Action const action = state.after(attempt);
        if (action == PollState::Action::sleep) {
            if (wait.released) {
                lock.lock();
                if (wait.released()) return;
                lock.unlock();
            }
            sleep(waiter, seen, state.seconds());
            state.woke();
            traced.woke();
            is_idle = doorbell().events.load(std::memory_order_relaxed) == seen;
        } else {
            prepare(action, state, waiter);
            is_idle = false;
        }
        lock.lock();
        if (action == PollState::Action::sleep) stalls_.watch(clock_.now(), hooks_);
    }
}

PollState::Attempt Progress::make_attempt() {
    PollState::Attempt attempt;
    attempt.moved = progress();
    attempt.looks_again = !attempt.moved && hooks_.any_must_look_again();
    attempt.message_due = hooks_.any_is_due();
    return attempt;
}

/// What comes before the next attempt, but for a sleep.
void Progress::prepare(PollState::Action action, PollState const& state,
                       EventWaiter& waiter) const noexcept {
    if (action == PollState::Action::attempt) waiter.withdraw();
    if (action == PollState::Action::announce) waiter.announce(state.is_long());
    if (action != PollState::Action::poll) return;
    // Another attempt is cheaper than a sleep; where ranks share cores, let another one run.
    if (may_spin_ && !is_helper())
        cpu_pause();
    else
        sched_yield();
}

/// The network may have become busier since the last attempt.
void Progress::sleep(EventWaiter& waiter, std::uint32_t seen, double seconds_max) {
    SourceNeed const need = network_.need();
    auto const needed = [this] { return network_.need(); };
    if (is_helper() ? !wakeup_.watch(need, needed) : needed() > need) return waiter.withdraw();
    network_.sleep(waiter, need, seen, seconds_max);
}

/// What is left is the helper's. Without one a caller that has completed all of its operations
/// stays until the network has taken what peers need for theirs.
void Progress::stop_driving(std::unique_lock<std::mutex> lock) {
    bool const must_call = wakeup_.end_driving();
    if (lock) lock.unlock();
    if (must_call) call_helper();
    if (needs_callers()) finish_sends();
}

void Progress::poll_all() {
    std::unique_lock const lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) progress();
}

void Progress::help() {
    this_is_the_helper = true;
    helper_wakeups_.begin();
    EventWaiter waiter(doorbell());
    PollState polling({.poll_seconds = 0, .sleep_seconds = helper_sleep_seconds});
    HelperState state;
    TracedWait traced;
    while (!stopping_) {
        double const time = clock_.now();
        auto const now = wakeup_.look(state, time);
        if (now == HelperState::State::driving) {
            help_once(waiter, polling, traced);
            continue;
        }
        traced.end();
        waiter.withdraw();  // It sleeps on another event count.
        polling.reset();
        if (now == HelperState::State::leaving) continue;
        wakeup_.wait(HelperState::looks_soon(now) ? state.seconds(time) : sleep_until_called);
    }
    helper_wakeups_.end();
}

void Progress::help_once(EventWaiter& waiter, PollState& polling, TracedWait& traced) {
    std::uint32_t const begins = begins_;
    if (std::exchange(known_begins_, begins) != begins) polling.reset();
    std::uint32_t const seen = doorbell().events.load(std::memory_order_seq_cst);
    PollState::Attempt attempt;
    {
        std::lock_guard const lock(mutex_);
        attempt = make_attempt();
        traced.after_attempt(attempt.moved || !wakeup_.busy(),
                             [&](TraceEvent& event) { hooks_.describe(event); });
        attempt.now = clock_.now();
        traced.seen(attempt);
        if (!attempt.moved) stalls_.watch(attempt.now, hooks_);
    }
    PollState::Action const action = polling.after(attempt);
    if (action != PollState::Action::sleep) return prepare(action, polling, waiter);
    sleep(waiter, seen, polling.seconds());
    wakeup_.watch_all();
    polling.woke();
    traced.woke();
}

double Progress::helper_seconds() {
    std::lock_guard const lock(helper_mutex_);
    return helper_.joinable() ? processor_seconds(helper_) : 0;
}

void Progress::stop() {
    if (!exists_) return;
    Progress& all = instance();
    all.finish_sends();
    poll_while(all, [&] { return all.network_.is_busy(); }, linger_seconds);
    all.end_helper();
}

/// Operations are complete here before the network has taken all that peers need for theirs. A peer
/// may begin its own late, but may also wait for the MPI's progress here, so not for long.
void Progress::finish_sends() {
    auto const is_needed = [&] {
        std::lock_guard const lock(mutex_);
        return hooks_.empty() && (network_.has_unsent() || network_.waits_for_room());
    };
    poll_while(*this, is_needed, finish_seconds);
}

void Progress::end_helper() {
    std::lock_guard const lock(helper_mutex_);
    if (!helper_.joinable()) return;
    stopping_ = true;
    wakeup_.call();
    ring();
    helper_.join();
    stopping_ = false;  // Another session may follow, and call for a helper again.
    wakeup_.ended();
}

}  // namespace sluice
