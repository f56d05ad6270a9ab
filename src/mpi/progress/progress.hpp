// Who moves operations on: the calling thread of a blocking call or a wait, else one helper thread
// a process, which sleeps on its doorbell. While a caller drives, the helper stays out of the way.
#pragma once
#include "mpi/environment.hpp"
#include "schedule/progress_hook.hpp"
#include "system/clock.hpp"
#include "transport/doorbell.hpp"

#include <functional>
#include <mutex>
#include <thread>

namespace sluice {

class Progress {
public:
    using Condition = std::function<bool()>;

    /// The one of this process; no thread starts before the first nonblocking operation.
    static Progress& instance();

    /// The page with this process's doorbell, for peers to attach. Null where shared memory is
    /// refused.
    [[nodiscard]] SharedMemory const& doorbell_page() const noexcept { return page_; }

    /// Rings this process's doorbell: storage threads do when a transfer ends.
    void ring() noexcept { sluice::ring(doorbell()); }

    /// Something is to be moved on: `append` hands it to `progress hook`, by whichever thread
    /// drives next. Never waits for progress that another thread makes. `background`: the helper is
    /// to move it on.
    void submit(ProgressHook& progress_hook, std::function<void()> append, bool background);

    /// Before `progress hook` is gone: nobody looks at it any more. All that it was given is
    /// complete.
    void forget(ProgressHook const& progress_hook);

    /// As submit(), begun by the calling thread where no other one is driving: often it is complete
    /// then. The helper, where it looks after things anyway, is not woken: it comes soon.
    template <class Append> void begin(ProgressHook& progress_hook, Append append) {
        std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return submit(progress_hook, std::move(append), true);
        append();
        move_begun(progress_hook, std::move(lock));
    }

    /// Moves `progress hook` on for some microseconds, where that disturbs nobody: what a wait may
    /// be over with. Returns done().
    template <class Done> bool look(ProgressHook& progress_hook, Done done) {
        std::unique_lock lock(mutex_, std::defer_lock);
        if (!may_spin_ || !lock.try_lock()) return done();
        ++drivers_;  // A helper that slept on the doorbell meanwhile would be rung by each message.
        for (int left = first_looks; left > 0 && !done(); --left) look_at(progress_hook);
        stop_driving(std::move(lock));
        return done();
    }

    /// Moves everything on in the calling thread and sleeps in between until `done()` is true,
    /// which looks at memory only: it is called while the mutex is held.
    /// `poke` is called now and then, so that the MPI can make progress on what it was given.
    /// `part`, the caller's own share of the work, may block; it returns true when it did anything.
    void drive_until(
        Condition const& done, std::function<void()> const& poke,
        Condition const& part = [] { return false; });

    /// The same for a blocking call whose transfers the caller's parts do all, or where there are
    /// messages only: no storage thread needs this core, so it may look for longer before it
    /// sleeps. Where `released()`, asked instead of sleeping and with no other thread driving, is
    /// true, it returns at once, and the helper moves on what is left.
    void drive_until_served(
        Condition const& done, std::function<void()> const& poke,
        Condition const& part = [] { return false; },
        Condition const& released = [] { return false; });

    /// The same where `ask()` calls the MPI, which may call functions of the program's, and these
    /// any function of MPI: it is called while nothing is locked. No doorbell tells when its answer
    /// changes, so sleeps are short.
    void drive_until_mpi(Condition const& ask);
    /// The same where a doorbell does tell, but for what `poke` is called for.
    void drive_until_mpi(Condition const& ask, std::function<void()> const& poke);

    /// There is no helper and something is under way: a call that blocks must drive meanwhile.
    /// Asked by every intercepted call, so it makes nothing, and costs one load before the first
    /// file is opened.
    [[nodiscard]] static bool needs_callers() noexcept {
        return exists_.load(std::memory_order_relaxed) && instance().work_without_helper();
    }

    /// Whether the helper can move on what no call waits for; starts it where there is none.
    [[nodiscard]] bool can_help();

    /// One attempt to move things on, without waiting, unless another thread is at it.
    void nudge();

    /// Seconds of processor time that the helper has used.
    [[nodiscard]] double helper_seconds();

    /// Ends the helper, if there is one. Afterwards only callers drive.
    static void stop();

    /// Callers may spin for a moment only when every rank of the node has a core of its own.
    void allow_spinning(bool allowed) noexcept { may_spin_ = allowed; }

private:
    Progress();
    [[nodiscard]] bool work_without_helper() const noexcept {
        return settings().progress_in_calls && (inbox_full_ || busy_);
    }
    void end_helper();
    [[nodiscard]] DoorbellWord& doorbell() const noexcept {
        return *reinterpret_cast<DoorbellWord*>(page_.data());
    }
    struct Waiting {
        Condition const* ask = nullptr;  ///< Ends the wait as well; called without the mutex.
        bool asks_often = false;
        double spin_seconds = 30e-6;  ///< Of looking before sleeping.
    };
    static constexpr int first_looks = 100;  ///< Of a wait: some microseconds.

    static bool move(ProgressHook& progress_hook) noexcept;
    bool progress();
    void take_inbox();
    void move_begun(ProgressHook& progress_hook, std::unique_lock<std::mutex> lock);
    void keep(ProgressHook& progress_hook);
    void drop(ProgressHook const& progress_hook);
    void note_busy();
    void look_at(ProgressHook& progress_hook);
    void stop_driving(std::unique_lock<std::mutex> lock);
    void call_helper(ProgressHook& progress_hook, std::unique_lock<std::mutex> lock);
    [[nodiscard]] bool due() const;
    [[nodiscard]] bool must_look_again() const;
    void help();
    void rest(std::uint32_t called, double idle_since);
    void start_helper();
    bool has_helper();
    void drive(Condition const& done, std::function<void()> const& poke, Condition const& part,
               Condition const& released, Waiting how);
    [[nodiscard]] double nap_seconds(int naps, bool due) const;
    void watch(double now);

    static inline std::atomic<bool> exists_{false};  ///< instance() was called.
    SharedMemory page_;
    DoorbellWord helper_doorbell_{};            ///< Rung when the helper has something to do again.
    std::mutex mutex_;                          ///< Held by whoever moves streams on.
    std::vector<ProgressHook*> progress_hook_;  ///< With something under way.
    std::mutex inbox_mutex_;
    std::vector<std::pair<ProgressHook*, std::function<void()>>> inbox_;
    std::atomic<bool> inbox_full_{false}, busy_{false}, stopping_{false};
    std::atomic<bool> dozing_{false};  ///< The helper looks again soon, without being called.
    std::atomic<int> drivers_{0};
    std::atomic<std::uint32_t> begins_{0};  ///< A helper that naps looks closer after each.
    std::atomic<bool> may_spin_{false};
    std::thread helper_;
    std::mutex helper_mutex_;  ///< Guards start and stop.
    SteadyClock clock_;
    double moved_at_ = 0;  ///< For the stall watchdog; guarded by mutex_.
};

/// Whether the calling thread is the helper: no call of the program's is then on its stack.
[[nodiscard]] bool is_helper() noexcept;

}  // namespace sluice
