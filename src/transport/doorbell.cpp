// Futex calls. See doorbell.hpp.
#include "transport/doorbell.hpp"

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

DoorbellWord& word_in(SharedMemory const& page) noexcept {
    return *reinterpret_cast<DoorbellWord*>(page.data());
}

/// The most that a ring costs that was lost.
constexpr double nap_seconds = 1e-3;

bool barrier_of_all(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Peers' barriers reach this process. At load, when it has one thread and that costs nothing.
bool const is_reached = barrier_of_all(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

void wake(DoorbellWord& doorbell) noexcept {
    syscall(SYS_futex, &doorbell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void ring(DoorbellWord& doorbell) noexcept {
    doorbell.rings.fetch_add(1, std::memory_order_seq_cst);
    if (doorbell.sleepers.load(std::memory_order_seq_cst) != 0) wake(doorbell);
}

/// The barrier between the store and this look is the sleeper's, who seldom sleeps.
void ring_sleepers(DoorbellWord& doorbell) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    auto const sleepers = is_reached ? doorbell.sleepers.load(std::memory_order_relaxed)
                                     : doorbell.sleepers.fetch_add(0, std::memory_order_seq_cst);
    if (sleepers == 0) return;
    doorbell.rings.fetch_add(1, std::memory_order_seq_cst);
    wake(doorbell);
}

void sleep_on(DoorbellWord& doorbell, std::uint32_t seen, double seconds_max) noexcept {
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(seconds_max);
    timeout.tv_nsec = static_cast<long>((seconds_max - std::floor(seconds_max)) * 1e9);
    doorbell.sleepers.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &doorbell.rings, FUTEX_WAIT, seen, &timeout, nullptr, 0);
    doorbell.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

bool Sleeper::announce(bool for_long) noexcept {
    bool const first = !std::exchange(announced_, true);
    if (first) doorbell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!for_long || reached_all_) return first;
    reached_all_ = barrier_of_all(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    return first || reached_all_;
}

void Sleeper::withdraw() noexcept {
    if (announced_) doorbell_.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    announced_ = reached_all_ = false;
}

void Sleeper::sleep(std::uint32_t seen, double seconds_max) noexcept {
    sleep_on(doorbell_, seen, reached_all_ ? seconds_max : std::min(seconds_max, nap_seconds));
    withdraw();
}

void NodeDoorbells::ring(Rank local) {
    sluice::ring_sleepers(word_in(pages_[static_cast<std::size_t>(local)]));
}

}  // namespace sluice
