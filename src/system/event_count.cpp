// The event count on Linux: futex(2) to sleep and to wake, and membarrier(2), so that a thread that
// notifies needs no barrier of its own. See event_count.hpp.
#include "system/event_count.hpp"

#include "system/clock.hpp"
#include "system/futex.hpp"
#include "system/wake_socket.hpp"

#include <algorithm>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

/// A notification that is missed costs no more than this.
constexpr double short_sleep_seconds = 1e-3;

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Other processes' barriers reach this process. It registers when it is loaded, while it has one
/// thread and that costs nothing.
bool const is_reached = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

void wake(EventCount& count) noexcept { wake_all(&count.events); }

}  // namespace

void notify(EventCount& count) noexcept {
    count.events.fetch_add(1, std::memory_order_seq_cst);
    if (count.waiters.load(std::memory_order_seq_cst) != 0) wake(count);
    if (count.pollers.load(std::memory_order_seq_cst) != 0) wake_socket_of(count);
}

/// The barrier between the caller's store and this load is the waiter's, who seldom sleeps.
void notify_waiters(EventCount& count) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    auto const waiters = is_reached ? count.waiters.load(std::memory_order_relaxed)
                                    : count.waiters.fetch_add(0, std::memory_order_seq_cst);
    if (waiters == 0) return;
    count.events.fetch_add(1, std::memory_order_seq_cst);
    wake(count);
    if (count.pollers.load(std::memory_order_seq_cst) != 0) wake_socket_of(count);
}

void wait_for_event(EventCount& count, std::uint32_t seen, double seconds_max) noexcept {
    timespec const timeout = timespec_of(seconds_max);
    count.waiters.fetch_add(1, std::memory_order_seq_cst);
    sleep_on(&count.events, seen, &timeout);
    count.waiters.fetch_sub(1, std::memory_order_seq_cst);
}

bool EventWaiter::announce(bool for_long) noexcept {
    bool const first = !std::exchange(announced_, true);
    if (first) count_.waiters.fetch_add(1, std::memory_order_seq_cst);
    if (!for_long || reached_all_) return first;
    reached_all_ = membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    return first || reached_all_;
}

void EventWaiter::withdraw() noexcept {
    if (announced_) count_.waiters.fetch_sub(1, std::memory_order_seq_cst);
    announced_ = reached_all_ = false;
}

void EventWaiter::sleep(std::uint32_t seen, double seconds_max) noexcept {
    wait_for_event(count_, seen,
                   reached_all_ ? seconds_max : std::min(seconds_max, short_sleep_seconds));
    withdraw();
}

void EventWaiter::sleep(WakeSocket& socket, int fd, std::uint32_t seen,
                        double seconds_max) noexcept {
    socket.sleep(fd, seen, reached_all_ ? seconds_max : std::min(seconds_max, short_sleep_seconds));
    withdraw();
}

}  // namespace sluice
