// Whether a thread that wakes up takes the core from one that computes, or waits until a core is
// idle or that one's time slice is over. It is the scheduling policy SCHED_BATCH, which any process
// may set for its threads and take back; where the system refuses, threads preempt as usual.
#pragma once
#include <atomic>
#include <mutex>
#include <sys/types.h>

namespace sluice {

class Wakeups {
public:
    /// Called by the thread that is meant, when it begins. A thread with another policy than the
    /// usual one keeps it. Threads that it starts inherit what it has then.
    void begin();
    /// Called by the same thread before it ends.
    void end();

    /// By any thread, before it wakes the one that is meant. Costs a load where nothing changes.
    void let_preempt(bool preempts) {
        if (preempts_.load(std::memory_order_relaxed) != preempts) change(preempts);
    }

private:
    void change(bool preempts);
    void apply() const noexcept;

    std::mutex mutex_;
    std::atomic<bool> preempts_{true};
    pid_t thread_ = 0;  ///< 0: none that may be changed. Guarded by mutex_.
};

}  // namespace sluice
