// What a thread does between two looks when it waits for a few nanoseconds.
#pragma once

namespace sluice {

/// Tells the core that the thread waits in a loop: it takes less power, and its neighbour on the
/// same core goes on faster.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace sluice
