// Progress decides which thread moves operations on: the thread of a blocking call or of a wait,
// else the one helper thread of the process. Whoever does it holds one mutex, and sleeps on the
// process's doorbell when nothing moves. While a caller drives, the helper stays away (decisions
// 0004, 0039).
#pragma once
#include "mpi/progress/active_hooks.hpp"
#include "mpi/progress/network_watch.hpp"
#include "system/clock.hpp"
#include "system/environment.hpp"
#include "system/wakeups.hpp"
#include "transport/doorbell.hpp"

#include <functional>
#include <mutex>
#include <thread>

namespace sluice {

/// What a call waits for, and what it does meanwhile. A function that is not given does nothing.
struct Wait {
    /// Ends the wait. It looks at memory only, because it is called while the mutex is held.
    std::function<bool()> done = {};
    /// Ends the wait as well. It calls the MPI, which may call functions of the program's, and
    /// these any function of MPI: it is called while nothing is locked.
    std::function<bool()> mpi_done = {};
    /// No doorbell rings when mpi_done() changes, so sleeps are short.
    bool mpi_often = false;
    /// Called once a millisecond, and for 20 us then where nothing rings, so that the MPI can make
    /// progress on what the program gave it.
    std::function<void()> poke = {};
    /// The caller's own share of the work. It may block; it returns true when it did anything.
    std::function<bool()> part = {};
    /// Asked before a sleep, with no other thread driving: where it is true, the wait ends, and the
    /// helper moves on what is left.
    std::function<bool()> released = {};
    /// The caller's parts do all transfers, or there are messages only: no storage thread needs
    /// this core, so the caller may poll for longer before it sleeps.
    bool polls_long = false;
    /// For a trace: what it waits for, where no operation under way tells.
    TraceWait reason = TraceWait::unknown;
};

class TracedWait;

class Progress {
public:
    /// The one of this process; no thread starts before the first nonblocking operation, or before
    /// a call leaves something behind.
    static Progress& instance();

    /// The page with this process's doorbell, for peers to attach. Null where shared memory is
    /// refused.
    [[nodiscard]] SharedMemory const& doorbell_page() const noexcept { return page_; }

    /// Rings this process's doorbell: storage threads do when a transfer ends.
    void ring() noexcept { notify(doorbell()); }

    /// Begins an operation: `append` hands it to `hook`, in whichever thread drives next. Never
    /// waits for progress that another thread makes. `background`: no caller will wait for it soon,
    /// so the helper is to drive it.
    void submit(ProgressHook& hook, std::function<void()> append, bool background);

    /// Moves `source` on together with the hooks, and sleeps on its descriptor as well. It stays.
    void use(EventSource& source);

    /// Call this before `hook` is destroyed, when all that it was given is complete: no thread uses
    /// it afterwards.
    void forget(ProgressHook const& hook);

    /// As submit(), but where no other thread drives, the calling thread makes the first attempt
    /// itself, which often completes the operation. A helper that dozes is not called: it looks
    /// soon.
    template <class Append> void begin(ProgressHook& hook, Append append) {
        std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return submit(hook, std::move(append), true);
        append();
        move_begun(hook, std::move(lock));
    }

    /// Makes progress on `hook` for some microseconds, where every rank has a core of its own and
    /// no other thread drives. Many waits are over with this. Returns done().
    template <class Done> bool poll(ProgressHook& hook, Done done) {
        std::unique_lock lock(mutex_, std::defer_lock);
        if (!may_spin_ || !lock.try_lock()) return done();
        wakeup_.begin_driving();  // Each message would ring a helper that sleeps meanwhile.
        for (int left = polls_of_wait; left > 0 && !done(); --left) poll_once(hook);
        stop_driving(std::move(lock));
        return done();
    }

    /// Makes progress on everything in the calling thread, and sleeps in between, until the wait is
    /// over. A doorbell, or a millisecond, ends each sleep.
    void drive(Wait const& wait);

    /// Whether something is under way that no helper advances, so that MPI_Wait and MPI_Test must,
    /// whatever they are given. Before the first file is opened this costs one load.
    [[nodiscard]] static bool needs_callers() noexcept {
        if (!exists_.load(std::memory_order_relaxed)) return false;
        Progress const& all = instance();
        return all.has_no_helper_ && all.wakeup_.has_work();
    }

    /// Whether a helper is there to drive what no call waits for; starts it where there is none.
    [[nodiscard]] bool can_help();

    /// One attempt to make progress on everything, unless another thread drives. Does not wait.
    void poll_all();

    /// Seconds of processor time that the helper has used.
    [[nodiscard]] double helper_seconds();

    /// Ends the helper, if there is one. Afterwards only callers drive.
    static void stop();

    /// Callers may spin for a moment only when every rank of the node has a core of its own.
    void allow_spinning(bool allowed) noexcept { may_spin_ = allowed; }

private:
    Progress();
    [[nodiscard]] EventCount& doorbell() const noexcept { return doorbell_in(page_); }
    static constexpr int polls_of_wait = 100;  ///< They take some microseconds.

    // ---- With the mutex held ----
    bool progress();
    void take_inbox();
    void keep(ProgressHook& hook);
    void drop(ProgressHook const& hook);
    void note_busy();
    void poll_once(ProgressHook& hook);
    PollState::Attempt make_attempt();

    // ---- Without it, or until it is released ----
    void move_begun(ProgressHook& hook, std::unique_lock<std::mutex> lock);
    void stop_driving(std::unique_lock<std::mutex> lock);
    void call_helper();
    void ring_for_network() noexcept;
    void prepare(PollState::Action action, PollState const& state,
                 EventWaiter& waiter) const noexcept;
    void sleep(EventWaiter& waiter, std::uint32_t seen, double seconds_max);
    void finish_sends();

    // ---- The helper's thread ----
    bool has_helper();
    void end_helper();
    void help();
    void help_once(EventWaiter& waiter, PollState& polling, TracedWait& traced);

    static inline std::atomic<bool> exists_{false};  ///< instance() was called.
    SteadyClock clock_;  ///< Ahead of those that ask it when they are made.
    SharedMemory page_;
    HelperWakeup<SystemMemory> wakeup_;
    std::mutex mutex_;   ///< Held by whoever makes progress.
    ActiveHooks hooks_;  ///< Guarded by mutex_, as is `stalls_`.
    StallWatchdog stalls_;
    NetworkWatch network_;
    std::mutex inbox_mutex_;
    std::vector<std::pair<ProgressHook*, std::function<void()>>> inbox_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> has_no_helper_{false};  ///< One was needed, and was not started.
    std::atomic<std::uint32_t> begins_{0};    ///< The helper sleeps shortly after each.
    std::uint32_t known_begins_ = 0;          ///< Of begins_; the helper's.
    std::atomic<bool> may_spin_{false};
    std::thread helper_;
    Wakeups helper_wakeups_;   ///< It preempts where something under way waits for devices.
    std::mutex helper_mutex_;  ///< Guards start and stop.
};

/// Whether the calling thread is the helper: no call of the program's is then on its stack.
[[nodiscard]] bool is_helper() noexcept;

}  // namespace sluice
