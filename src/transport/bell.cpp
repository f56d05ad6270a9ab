// Futex calls. See bell.hpp.
#include "transport/bell.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

BellWord& word_in(SharedMemory const& page) noexcept {
    return *reinterpret_cast<BellWord*>(page.data());
}

/// The most that a ring costs that was lost.
constexpr double nap_seconds = 1e-3;

bool barrier_of_all(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Peers' barriers reach this process. At load, when it has one thread and that costs nothing.
bool const is_reached = barrier_of_all(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

void wake(BellWord& bell) noexcept {
    syscall(SYS_futex, &bell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void ring(BellWord& bell) noexcept {
    bell.rings.fetch_add(1, std::memory_order_seq_cst);
    if (bell.sleepers.load(std::memory_order_seq_cst) != 0) wake(bell);
}

/// The barrier between the store and this look is the sleeper's, who seldom sleeps.
void ring_sleepers(BellWord& bell) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    auto const sleepers = is_reached ? bell.sleepers.load(std::memory_order_relaxed)
                                     : bell.sleepers.fetch_add(0, std::memory_order_seq_cst);
    if (sleepers == 0) return;
    bell.rings.fetch_add(1, std::memory_order_seq_cst);
    wake(bell);
}

void sleep_on(BellWord& bell, std::uint32_t seen, double seconds_max) noexcept {
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(seconds_max);
    timeout.tv_nsec = static_cast<long>((seconds_max - std::floor(seconds_max)) * 1e9);
    bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &bell.rings, FUTEX_WAIT, seen, &timeout, nullptr, 0);
    bell.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

bool Sleeper::announce(bool for_long) noexcept {
    bool const first = !std::exchange(announced_, true);
    if (first) bell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!for_long || reached_all_) return first;
    reached_all_ = barrier_of_all(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    return first || reached_all_;
}

void Sleeper::withdraw() noexcept {
    if (announced_) bell_.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    announced_ = reached_all_ = false;
}

void Sleeper::sleep(std::uint32_t seen, double seconds_max) noexcept {
    sleep_on(bell_, seen, reached_all_ ? seconds_max : std::min(seconds_max, nap_seconds));
    withdraw();
}

void NodeBells::ring(Rank local) {
    sluice::ring_sleepers(word_in(pages_[static_cast<std::size_t>(local)]));
}

}  // namespace sluice
