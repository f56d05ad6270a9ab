// Driving, helping and watching. See progress.hpp.
#include "mpi/progress/progress.hpp"

#include "mpi/environment.hpp"
#include "system/library_thread.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <utility>

namespace sluice {
namespace {

constexpr double poke_seconds = 1e-3;  ///< The MPI is asked this often while a caller waits.
constexpr double due_seconds = 50e-6;  ///< First naps while a message is due; double up to poke.
constexpr int naps_alike = 4;
constexpr double long_nap_seconds = 1.0;  ///< Of the helper, while only rings are awaited.
constexpr double doze_seconds = 2e-3;     ///< After the last work.
constexpr double doze_nap_seconds = 100e-6;
/// Of looking before sleeping, where each rank has a core of its own and its caller does all work.
constexpr double long_spin_seconds = 1e-3;

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
bool Progress::move(ProgressHook& progress_hook) noexcept {
    try {
        return progress_hook.progress();
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

void Progress::submit(ProgressHook& progress_hook, std::function<void()> append, bool background) {
    {
        std::lock_guard const lock(inbox_mutex_);
        inbox_.emplace_back(&progress_hook, std::move(append));
        inbox_full_ = true;
    }
    if (!background || settings().progress_in_calls) return;
    start_helper();
    sluice::ring(helper_doorbell_);
    ring();
}

void Progress::move_begun(ProgressHook& progress_hook, std::unique_lock<std::mutex> lock) {
    begins_.store(begins_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bool const moved = move(progress_hook);
    if (moved && drivers_ > 0) ring();  // It may be another thread's operation that is complete.
    if (progress_hook.idle()) return drop(progress_hook);
    keep(progress_hook);
    call_helper(progress_hook, std::move(lock));
}

void Progress::look_at(ProgressHook& progress_hook) {
    if (!move(progress_hook)) return;
    if (drivers_ > 1) ring();  // As above.
    if (progress_hook.idle()) drop(progress_hook);
}

/// A helper that dozes looks at busy_ after it said that it does no more: one of both sees it. One
/// that has other things under way may sleep for long: what rings no doorbell it would see too
/// late.
void Progress::call_helper(ProgressHook& progress_hook, std::unique_lock<std::mutex> lock) {
    if (dozing_ || settings().progress_in_calls) return;
    bool const must_look = progress_hook.due() > 0 || progress_hook.must_look_again();
    lock.unlock();
    start_helper();
    sluice::ring(helper_doorbell_);
    if (must_look) ring();
}

void Progress::forget(ProgressHook const& progress_hook) {
    std::lock_guard const lock(mutex_);
    drop(progress_hook);
}

void Progress::keep(ProgressHook& progress_hook) {
    if (std::find(progress_hook_.begin(), progress_hook_.end(), &progress_hook) ==
        progress_hook_.end()) {
        progress_hook_.push_back(&progress_hook);
    }
    note_busy();
    if (settings().stall_seconds > 0) moved_at_ = clock_.now();
}

/// Costs a look where nothing changes.
void Progress::note_busy() {
    bool const busy = !progress_hook_.empty();
    if (busy_.load(std::memory_order_relaxed) != busy) busy_ = busy;
}

void Progress::drop(ProgressHook const& progress_hook) {
    if (progress_hook_.empty()) return;
    std::erase(progress_hook_, &progress_hook);
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

/// Without one, operations move on in calls that wait; the next one that is begun tries again.
bool Progress::has_helper() {
    if (helper_.joinable() || stopping_ || settings().progress_in_calls) return helper_.joinable();
    helper_ = library_thread_if_any("sluice-helper", [this] { help(); });
    if (!helper_.joinable()) warn("no helper thread (ulimit -l, -u, -v): progress in waits only");
    return helper_.joinable();
}

/// It is busy before the inbox is seen empty: else the helper might find nothing to do.
void Progress::take_inbox() {
    std::lock_guard const lock(inbox_mutex_);
    for (auto& [progress_hook, append] : inbox_) {
        append();
        keep(*progress_hook);
    }
    inbox_.clear();
    inbox_full_ = false;
}

bool Progress::progress() {
    bool moved = inbox_full_.load(std::memory_order_acquire);
    if (moved) take_inbox();
    for (ProgressHook* const progress_hook : progress_hook_) moved |= move(*progress_hook);
    if (moved) {
        std::erase_if(progress_hook_,
                      [](ProgressHook const* progress_hook) { return progress_hook->idle(); });
        if (settings().stall_seconds > 0) moved_at_ = clock_.now();
    }
    note_busy();
    return moved;
}

bool Progress::due() const {
    return std::any_of(progress_hook_.begin(), progress_hook_.end(),
                       [](ProgressHook const* progress_hook) { return progress_hook->due() > 0; });
}

bool Progress::must_look_again() const {
    return std::any_of(
        progress_hook_.begin(), progress_hook_.end(),
        [](ProgressHook* progress_hook) { return progress_hook->must_look_again(); });
}

/// Messages from other nodes ring no doorbell: while one is due, look again soon.
double Progress::nap_seconds(int naps, bool due) const {
    if (!due) return poke_seconds;
    return std::min(poke_seconds, due_seconds * (1 << std::min(naps / naps_alike, 5)));
}

void Progress::drive_until(Condition const& done, std::function<void()> const& poke,
                           Condition const& part) {
    drive(done, poke, part, [] { return false; }, {});
}

void Progress::drive_until_served(Condition const& done, std::function<void()> const& poke,
                                  Condition const& part, Condition const& released) {
    drive(done, poke, part, released,
          {.spin_seconds = may_spin_ ? long_spin_seconds : Waiting{}.spin_seconds});
}

void Progress::drive_until_mpi(Condition const& ask) {
    drive([] { return false; }, [] {}, [] { return false; }, [] { return false; },
          {.ask = &ask, .asks_often = true});
}

void Progress::drive_until_mpi(Condition const& ask, std::function<void()> const& poke) {
    drive([] { return false; }, poke, [] { return false; }, [] { return false; }, {.ask = &ask});
}

void Progress::drive(Condition const& done, std::function<void()> const& poke,
                     Condition const& part, Condition const& released, Waiting how) {
    ++drivers_;
    std::unique_lock lock(mutex_);
    // Also when `ask` or `part` throws: the helper waits for the last of those who drive.
    struct Leaving {
        Progress& progress;
        std::unique_lock<std::mutex>& held;
        ~Leaving() { progress.stop_driving(std::move(held)); }
    } const leaving{*this, lock};
    Sleeper sleeper(doorbell());
    int naps = 0;
    double idle_since = 0;  // 0: something moved since.
    for (;;) {
        std::uint32_t const seen = doorbell().rings.load(std::memory_order_seq_cst);
        bool const moved = progress();
        if (moved && drivers_ > 1)
            ring();  // It may be another thread's operation that is complete.
        if (done()) break;
        bool const asks_mpi = how.asks_often || due();
        bool const looks_again = !moved && must_look_again();
        lock.unlock();
        if (how.ask && (*how.ask)()) break;
        bool const worked = part();
        if (worked || moved) {
            naps = 0;
            idle_since = 0;
            sleeper.withdraw();
            lock.lock();
            continue;
        }
        double const now = clock_.now();
        if (idle_since == 0) idle_since = now;
        if (looks_again || now - idle_since < how.spin_seconds) {
            // Looking again is cheaper than a sleep; where ranks share cores, let another one run.
            if (may_spin_)
                __builtin_ia32_pause();
            else
                sched_yield();
            lock.lock();
            continue;
        }
        if (sleeper.announce()) {
            lock.lock();
            continue;
        }
        lock.lock();
        if (released()) break;
        lock.unlock();
        sleeper.sleep(seen, nap_seconds(naps++, asks_mpi));
        if (doorbell().rings.load(std::memory_order_relaxed) == seen) poke();
        lock.lock();
        watch(clock_.now());
    }
}

/// What is left is the helper's.
void Progress::stop_driving(std::unique_lock<std::mutex> lock) {
    bool const is_last = --drivers_ == 0;
    bool const work_left = busy_ || inbox_full_;
    if (lock) lock.unlock();
    if (!is_last || !work_left || dozing_) return;
    start_helper();
    sluice::ring(helper_doorbell_);
}

void Progress::nudge() {
    std::unique_lock const lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) progress();
}

void Progress::help() {
    this_is_the_helper = true;
    int naps = 0;
    Sleeper sleeper(doorbell());
    std::uint32_t answered = 0, known_begins = 0;
    double idle_since = 0;  // 0: it was called, or had something to do, since.
    while (!stopping_) {
        std::uint32_t const called = helper_doorbell_.rings.load(std::memory_order_seq_cst);
        if (std::exchange(answered, called) != called) idle_since = 0;
        std::uint32_t const seen = doorbell().rings.load(std::memory_order_seq_cst);
        if (drivers_ > 0 || (!inbox_full_ && !busy_)) {  // in this order: see progress()
            if (idle_since == 0) idle_since = clock_.now();
            sleeper.withdraw();  // It sleeps on another doorbell.
            rest(called, idle_since);
            naps = 0;
            continue;
        }
        dozing_ = false;
        idle_since = 0;
        if (std::uint32_t const begins = begins_; std::exchange(known_begins, begins) != begins) {
            naps = 0;
        }
        std::unique_lock lock(mutex_);
        bool const moved = progress();
        bool const must_ask = due(), looks_again = !moved && must_look_again();
        if (!moved) watch(clock_.now());
        lock.unlock();
        if (moved)
            naps = 0;
        else if (looks_again)
            sched_yield();
        else if (bool const nap = must_ask || naps == 0; !sleeper.announce(!nap))
            sleeper.sleep(seen, nap ? nap_seconds(naps++, must_ask) : long_nap_seconds);
    }
}

/// For a while the helper looks by itself whether there is something to do: to call it costs those
/// who begin something more than all the rest of a short collective.
void Progress::rest(std::uint32_t called, double idle_since) {
    bool const doze = clock_.now() - idle_since < doze_seconds;
    if (dozing_.exchange(doze) && !doze) return;  // To look once more, see call_helper().
    sleep_on(helper_doorbell_, called, doze ? doze_nap_seconds : 3600);
}

void Progress::watch(double now) {
    double const limit = settings().stall_seconds;
    if (limit <= 0 || now - moved_at_ < limit) return;
    moved_at_ = now;
    for (ProgressHook const* const progress_hook : progress_hook_) {
        warn("rank " + std::to_string(world_rank()) + " made no progress for " +
                 std::to_string(static_cast<int>(limit)) + " s: " + progress_hook->describe(),
             true);
    }
}

double Progress::helper_seconds() {
    std::lock_guard const lock(helper_mutex_);
    return helper_.joinable() ? processor_seconds(helper_) : 0;
}

void Progress::stop() {
    if (exists_) instance().end_helper();
}

void Progress::end_helper() {
    std::lock_guard const lock(helper_mutex_);
    if (!helper_.joinable()) return;
    stopping_ = true;
    sluice::ring(helper_doorbell_);
    ring();
    helper_.join();
    stopping_ = false;  // Another session may follow.
}

}  // namespace sluice
