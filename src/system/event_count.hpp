// An EventCount (Reed and Kanodia, 1979) lies in memory that threads or processes share. A thread
// that waits for a condition announces itself, checks the condition once more, and sleeps on a
// futex; a thread that makes the condition true notifies. A notification with nobody asleep is one
// atomic addition for threads of the same process, and one load for other processes, which send
// many messages.
#pragma once
#include "system/abstract_name.hpp"

#include <atomic>
#include <cstdint>

namespace sluice {

class WakeSocket;

/// Zeroed memory is an event count without events.
struct alignas(64) EventCount {
    std::atomic<std::uint32_t> events;
    std::atomic<std::uint32_t> waiters;
    std::atomic<std::uint32_t> pollers;  ///< Asleep in the WakeSocket with this name.
    AbstractName socket;
};

/// Adds an event, and wakes all who sleep.
void notify(EventCount& count) noexcept;

/// The same, only where an EventWaiter has announced itself: such a waiter, which checks once more
/// after announce(), sees what was stored before this call.
void notify_waiters(EventCount& count) noexcept;

/// Sleeps until an event came after `seen` was loaded from `events`, or the time is over.
void wait_for_event(EventCount& count, std::uint32_t seen, double seconds_max) noexcept;

/// One who waits for notify_waiters(). A thread makes its own.
class EventWaiter {
public:
    explicit EventWaiter(EventCount& count) noexcept : count_(count) {}
    EventWaiter(EventWaiter const&) = delete;
    EventWaiter& operator=(EventWaiter const&) = delete;
    ~EventWaiter() { withdraw(); }

    /// True: the caller must check its condition once more before it sleeps, because the others did
    /// not know that it waits. False: it had announced itself before. What another process stores
    /// in this very moment may be missed, which costs a short sleep. With `for_long` it is not
    /// missed; this takes some microseconds, also on other cores (membarrier(2)).
    bool announce(bool for_long = false) noexcept;

    /// The waiter does not sleep after all.
    void withdraw() noexcept;

    /// As wait_for_event(), and withdraws. Without announce(true), or where the system has no such
    /// barrier, the sleep takes a millisecond at most.
    void sleep(std::uint32_t seen, double seconds_max) noexcept;
    /// The same, and ends when `fd` polls readable. `socket` is of the same event count.
    void sleep(WakeSocket& socket, int fd, std::uint32_t seen, double seconds_max) noexcept;

private:
    EventCount& count_;
    bool announced_ = false, reached_all_ = false;
};

}  // namespace sluice
