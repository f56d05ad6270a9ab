// The system calls. See futex.hpp.
#include "system/futex.hpp"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {

void sleep_on(void* word, std::uint32_t seen, std::timespec const* at_most) noexcept {
    syscall(SYS_futex, word, FUTEX_WAIT, seen, at_most, nullptr, 0);
}

void wake_all(void* word) noexcept {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace sluice
