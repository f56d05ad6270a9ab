// The loop of a caller that drives, the loop of the helper thread, and the list of what has
// something under way, which they share. See progress.hpp.
#include "mpi/progress/progress.hpp"

#include "mpi/events/traced_wait.hpp"
#include "system/environment.hpp"
#include "system/library_thread.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sluice {
namespace {

constexpr double poll_seconds = 30e-6;
/// Where each rank has a core of its own and its caller does all work.
constexpr double long_poll_seconds = 1e-3;
constexpr double helper_sleep_seconds = 1.0;  ///< While only rings are awaited.
constexpr double sleep_until_called = 3600;

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

}  // namespace

/// Ends the job where there is no memory amid an operation: what was begun can neither be
/// ended nor given up alone, as other ranks take part, and they would wait for ever.
bool Progress::move(ProgressHook& hook) noexcept {
    try {
        return hook.progress();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice: rank %d cannot go on with an operation: %s\n", world_rank(),
                     error.what());
        std::abort();
    }
}

bool is_helper() noexcept { return this_is_the_helper; }

Progress& Progress::instance() {
    static auto* const only = new Progress;  // Never destroyed: threads may outlive main().
    return *only;
}

Progress::Progress() : page_(doorbell_memory()), moved_at_(clock_.now()) { exists_ = true; }

void Progress::submit(ProgressHook& hook, std::function<void()> append, bool background) {
    {
        std::lock_guard const lock(inbox_mutex_);
        inbox_.emplace_back(&hook, std::move(append));
        inbox_full_ = true;
    }
    if (hook.waits_for_devices()) helper_wakeups_.let_preempt(true);
    if (!background) return;
    ring_helper();
    ring();
}

/// A helper that looks by itself, and soon, need not be woken.
void Progress::ring_helper() {
    if (helper_looks_soon()) return;
    start_helper();
    notify(helper_calls_);
    ring_sleeper();
}

/// One that drives other operations may sleep where the network does not wake it, or for longer
/// than what waits for room can. It stores what it watches before it looks at the network once
/// more, and the network's state was stored before this: one of both sees what the other stored.
void Progress::ring_sleeper() noexcept {
    if (source_need() > helper_watches_) ring();
}

Progress::SourceNeed Progress::source_need() const noexcept {
    if (!source_is_busy()) return SourceNeed::nothing;
    return source_->waits_for_room() ? SourceNeed::short_sleeps : SourceNeed::descriptor;
}

void Progress::move_begun(ProgressHook& hook, std::unique_lock<std::mutex> lock) {
    begins_.store(begins_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bool const moved = move(hook);
    if (moved && drivers_ > 0) ring();  // It may be another thread's operation that is complete.
    if (!hook.idle()) {
        keep(hook);
    } else if (drop(hook); !busy_ || !hooks_.empty()) {
        lock.unlock();
        return ring_sleeper();
    }
    call_helper(hook, std::move(lock));
}

void Progress::poll_once(ProgressHook& hook) {
    if (!move(hook)) return;
    if (drivers_ > 1) ring();  // As above.
    if (hook.idle()) drop(hook);
}

/// The helper looks at busy_ once more after it published that it dozes no longer, and busy_ was
/// stored before this thread looks at the helper's state: one of both sees what the other stored. A
/// helper that drives may sleep for long, and would see too late what rings no doorbell.
void Progress::call_helper(ProgressHook& hook, std::unique_lock<std::mutex> lock) {
    if (helper_looks_soon()) return;
    bool const must_look = hook.due() > 0 || hook.must_look_again();
    lock.unlock();
    ring_helper();
    if (must_look) ring();
}

void Progress::use(EventSource& source) {
    std::lock_guard const lock(mutex_);
    source_ = &source;
    if (source.descriptor() < 0) return;
    wake_socket_ = std::make_unique<WakeSocket>(doorbell());
    if (!wake_socket_->is_open()) wake_socket_.reset();
}

void Progress::forget(ProgressHook const& hook) {
    std::lock_guard const lock(mutex_);
    drop(hook);
}

void Progress::keep(ProgressHook& hook) {
    if (std::find(hooks_.begin(), hooks_.end(), &hook) == hooks_.end()) {
        hooks_.push_back(&hook);
        choose_wakeups();
    }
    note_busy();
    if (settings().stall_seconds > 0) moved_at_ = clock_.now();
}

/// A helper that took the core of a rank that computes would only copy a little earlier what that
/// rank can copy in its wait. What lies in the inbox has chosen in submit().
void Progress::choose_wakeups() {
    bool const waits = std::any_of(hooks_.begin(), hooks_.end(), [](ProgressHook const* hook) {
        return hook->waits_for_devices();
    });
    if (waits || !inbox_full_) helper_wakeups_.let_preempt(waits);
}

/// What the last operation sent is mostly complete at once, and to ask the network costs less than
/// to wake the helper for it.
void Progress::ask_source() {
    if (source_ && source_->has_unsent()) source_->progress();
}

/// Costs a look where nothing changes.
void Progress::note_busy() {
    bool const busy = !hooks_.empty() || source_is_busy();
    if (busy_.load(std::memory_order_relaxed) != busy) busy_ = busy;
}

void Progress::drop(ProgressHook const& hook) {
    std::erase(hooks_, &hook);
    ask_source();
    note_busy();
}

void Progress::start_helper() {
    std::lock_guard const lock(helper_mutex_);
    (void)has_helper();
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

/// Sets busy_ before the inbox becomes empty; otherwise the helper could see neither and sleep.
void Progress::take_inbox() {
    std::lock_guard const lock(inbox_mutex_);
    for (auto& [hook, append] : inbox_) {
        append();
        keep(*hook);
    }
    inbox_.clear();
    inbox_full_ = false;
}

bool Progress::progress() {
    bool moved = inbox_full_.load(std::memory_order_acquire);
    if (moved) take_inbox();
    if (source_is_busy()) moved |= source_->progress();
    for (ProgressHook* const hook : hooks_) moved |= move(*hook);
    if (moved) {
        std::erase_if(hooks_, [](ProgressHook const* hook) { return hook->idle(); });
        if (settings().stall_seconds > 0) moved_at_ = clock_.now();
    }
    if (hooks_.empty()) ask_source();
    note_busy();
    return moved;
}

bool Progress::due() const {
    return std::any_of(hooks_.begin(), hooks_.end(),
                       [](ProgressHook const* hook) { return hook->due() > 0; });
}

bool Progress::must_look_again() const {
    return std::any_of(hooks_.begin(), hooks_.end(),
                       [](ProgressHook* hook) { return hook->must_look_again(); });
}

void Progress::drive(Wait const& wait) {
    ++drivers_;
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
        traced.after_attempt(attempt.moved, [&](TraceEvent& event) { describe(event); });
        if (attempt.moved && drivers_ > 1) ring();  // Another thread may wait for what is complete.
        if (wait.done && wait.done()) return;
        attempt.message_due |= wait.mpi_often;
        lock.unlock();
        if (wait.mpi_done && wait.mpi_done()) return;
        if (wait.part && wait.part()) attempt.moved = true;
        attempt.now = clock_.now();
        traced.seen(attempt);
        if (wait.poke && attempt.now >= poke_at)
            poke_at = poke_mpi(wait, is_idle) + PollState::short_sleep;
        PollState::Action const action = state.after(attempt);
        if (action == PollState::Action::sleep) {
            if (wait.released && is_released(wait)) return;
            sleep(waiter, seen, state.seconds());
            state.woke();
            traced.woke();
            is_idle = doorbell().events.load(std::memory_order_relaxed) == seen;
        } else {
            prepare(action, state, waiter);
            is_idle = false;
        }
        lock.lock();
        if (action == PollState::Action::sleep) watch(clock_.now());
    }
}

/// The mutex is held.
void Progress::describe(TraceEvent& wait) const {
    if (!hooks_.empty()) hooks_.front()->describe(wait);
}

bool Progress::is_released(Wait const& wait) {
    std::lock_guard const lock(mutex_);
    return wait.released();
}

/// The mutex is held.
PollState::Attempt Progress::make_attempt() {
    PollState::Attempt attempt;
    attempt.moved = progress();
    attempt.looks_again = !attempt.moved && must_look_again();
    attempt.message_due = due();
    return attempt;
}

/// What is left is the helper's. Without one a caller that has completed all of its operations
/// stays until the network has taken what peers need for theirs.
void Progress::stop_driving(std::unique_lock<std::mutex> lock) {
    bool const is_last = --drivers_ == 0;
    bool const work_left = busy_ || inbox_full_;
    if (lock) lock.unlock();
    if (is_last && work_left) ring_helper();
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
    std::uint32_t answered = 0;
    TracedWait traced;
    while (!stopping_) {
        std::uint32_t const calls = helper_calls_.events.load(std::memory_order_seq_cst);
        bool const called = std::exchange(answered, calls) != calls;
        bool const caller_drives = drivers_ > 0;
        bool const has_work = inbox_full_ || busy_;  // See take_inbox().
        double const time = clock_.now();
        auto const now = state.after({called, has_work, caller_drives, time});
        if (helper_state_ != now) helper_state_ = now;
        if (now == HelperState::State::driving) {
            help_once(waiter, polling, traced);
            continue;
        }
        traced.end();
        waiter.withdraw();  // It sleeps on another event count.
        polling.reset();
        if (now == HelperState::State::leaving) continue;
        wait_for_event(helper_calls_, calls,
                       HelperState::looks_soon(now) ? state.seconds(time) : sleep_until_called);
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
        traced.after_attempt(attempt.moved || !busy_, [&](TraceEvent& event) { describe(event); });
        attempt.now = clock_.now();
        traced.seen(attempt);
        if (!attempt.moved) watch(attempt.now);
    }
    PollState::Action const action = polling.after(attempt);
    if (action != PollState::Action::sleep) return prepare(action, polling, waiter);
    sleep(waiter, seen, polling.seconds());
    helper_watches_ = SourceNeed::short_sleeps;
    polling.woke();
    traced.woke();
}

void Progress::watch(double now) {
    double const limit = settings().stall_seconds;
    if (limit <= 0 || now - moved_at_ < limit) return;
    moved_at_ = now;
    std::vector<std::string> stalled;
    for (ProgressHook const* const hook : hooks_) stalled.push_back(hook->describe());
    for (auto const& text : stalls_.unknown(std::move(stalled))) {
        warn("rank " + std::to_string(world_rank()) + " made no progress for " +
                 std::to_string(static_cast<int>(limit)) + " s: " + text,
             true);
    }
}

double Progress::helper_seconds() {
    std::lock_guard const lock(helper_mutex_);
    return helper_.joinable() ? processor_seconds(helper_) : 0;
}

}  // namespace sluice
