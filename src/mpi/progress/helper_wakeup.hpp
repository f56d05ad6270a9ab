// HelperWakeup decides who wakes the helper thread. A thread stores the work that it has and then
// looks at the helper's state; the helper stores its state and then looks for work. Each store is
// ordered before the load that follows (Dekker's algorithm), so at least one of the two threads
// sees what the other one stored: the helper sees the work, or the thread calls the helper.
// `Memory` supplies the atomics and the event count: SystemMemory in the library, and in
// tests/unit/helper_wakeup_test.cpp a memory that reorders each store with each later load.
#pragma once
#include "mpi/progress/progress_states.hpp"
#include "system/event_count.hpp"

#include <atomic>
#include <utility>

namespace sluice {

/// What a sleeping thread must watch so that the network is moved on in time, from least to most.
enum class SourceNeed : std::uint8_t { nothing, descriptor, short_sleeps };

struct SystemMemory {
    template <class T> using Atomic = std::atomic<T>;
    using Events = EventCount;

    static std::uint32_t load(Events const& events) noexcept { return events.events.load(); }
    static void notify(Events& events) noexcept { sluice::notify(events); }
    static void wait(Events& events, std::uint32_t seen, double seconds_max) noexcept {
        wait_for_event(events, seen, seconds_max);
    }
};

template <class Memory> class HelperWakeup {
public:
    using State = HelperState::State;

    // ---- Threads that have work ----

    /// Operations lie in the inbox, or were taken out of it. Who takes them out calls set_busy()
    /// first; otherwise the helper could see neither.
    void set_inbox_full(bool full) noexcept { inbox_full_ = full; }
    /// Hooks have something under way. Costs a load where nothing changes.
    void set_busy(bool busy) noexcept {
        if (busy_.load(std::memory_order_relaxed) != busy) busy_ = busy;
    }
    [[nodiscard]] bool inbox_full() const noexcept {
        return inbox_full_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool busy() const noexcept { return busy_; }
    [[nodiscard]] bool has_work() const noexcept { return inbox_full_ || busy_; }

    /// While callers drive, the helper stays away.
    void begin_driving() noexcept { ++drivers_; }
    /// Returns true when the last caller leaves work behind: then it must call the helper.
    [[nodiscard]] bool end_driving() noexcept { return --drivers_ == 0 && has_work(); }
    [[nodiscard]] int drivers() const noexcept { return drivers_; }

    /// Whether the helper will look for work by itself, so that nobody has to call it.
    [[nodiscard]] bool looks_soon() const noexcept { return HelperState::looks_soon(state_); }
    void call() noexcept { Memory::notify(calls_); }
    /// Whether a helper that sleeps amid work watches less than the network needs now. Then its
    /// doorbell must ring.
    [[nodiscard]] bool watches_less_than(SourceNeed need) const noexcept { return need > watches_; }

    // ---- The helper ----

    /// Looks for calls and for work, and publishes what the helper does next.
    [[nodiscard]] State look(HelperState& helper, double now) noexcept {
        seen_calls_ = Memory::load(calls_);
        bool const called = std::exchange(answered_, seen_calls_) != seen_calls_;
        bool const caller_drives = drivers_ > 0;
        State const next = helper.after({called, has_work(), caller_drives, now});
        if (state_.load(std::memory_order_relaxed) != next) state_ = next;
        return next;
    }
    /// Sleeps until a call that came after the last look, or until the time is over.
    void wait(double seconds_max) noexcept { Memory::wait(calls_, seen_calls_, seconds_max); }

    /// Publishes what the helper watches in the sleep that follows. Returns false when `needed()`
    /// has become more: then it must not sleep.
    template <class Needed>
    [[nodiscard]] bool watch(SourceNeed need, Needed const& needed) noexcept {
        watches_ = need;
        return needed() <= need;
    }
    /// An awake helper watches everything.
    void watch_all() noexcept { watches_ = SourceNeed::short_sleeps; }

    /// After the helper's thread has ended.
    void ended() noexcept { state_ = State::asleep; }

private:
    typename Memory::Events calls_{};
    typename Memory::template Atomic<bool> inbox_full_{false}, busy_{false};
    typename Memory::template Atomic<int> drivers_{0};
    typename Memory::template Atomic<State> state_{State::asleep};
    typename Memory::template Atomic<SourceNeed> watches_{SourceNeed::short_sleeps};
    std::uint32_t seen_calls_ = 0, answered_ = 0;  ///< The helper's own.
};

}  // namespace sluice
