// Futex calls. See bell.hpp.
#include "ports/bell.hpp"

#include <climits>
#include <cmath>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

BellWord& word_in(SharedMemory const& page) noexcept {
    return *reinterpret_cast<BellWord*>(page.data());
}

}  // namespace

void ring(BellWord& bell) noexcept {
    bell.rings.fetch_add(1, std::memory_order_seq_cst);
    if (bell.sleepers.load(std::memory_order_seq_cst) == 0) return;
    syscall(SYS_futex, &bell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_on(BellWord& bell, std::uint32_t seen, double seconds_max) noexcept {
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(seconds_max);
    timeout.tv_nsec = static_cast<long>((seconds_max - std::floor(seconds_max)) * 1e9);
    bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &bell.rings, FUTEX_WAIT, seen, &timeout, nullptr, 0);
    bell.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void NodeBells::ring(Rank local) { sluice::ring(word_in(pages_[static_cast<std::size_t>(local)])); }

}  // namespace sluice
