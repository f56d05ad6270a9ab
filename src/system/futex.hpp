// A word in memory that processes share, on which a process can sleep until another one has changed
// it: futex(2). The word is a std::atomic, or is used by std::atomic_ref, of 32 bits.
#pragma once
#include <cstdint>
#include <ctime>

namespace sluice {

/// Until somebody wakes the word, unless it is not `seen` any more; no longer than `at_most`, where
/// that is given. It may also return for nothing.
void sleep_on(void* word, std::uint32_t seen, std::timespec const* at_most = nullptr) noexcept;
/// Wakes all that sleep on the word.
void wake_all(void* word) noexcept;

}  // namespace sluice
