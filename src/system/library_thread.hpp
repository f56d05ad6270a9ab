// All threads that the library has in a program's process are started here. They take no signals,
// have a name, and run on the cores that the user wants.
#pragma once
#include "base/affinity.hpp"

#include <cstdint>
#include <functional>
#include <thread>

namespace sluice {

/// Where all quiet threads run that are started from now on; empty: on the cores of the thread that
/// starts them.
void set_quiet_cores(Cores const& cores);

/// Cores that the system refuses are left out. `name`: at most 15 characters.
[[nodiscard]] std::thread library_thread(char const* name, std::function<void()> work);

/// The same; one that is not joinable where the system has no room for another thread, whose stack
/// counts to what a process may map and lock.
[[nodiscard]] std::thread library_thread_if_any(char const* name, std::function<void()> work);

/// Seconds of processor time of a thread that was not joined yet.
[[nodiscard]] double processor_seconds(std::thread& thread) noexcept;

/// Those that the process's first thread may run on; empty where the system does not say.
[[nodiscard]] Cores process_cores() noexcept;
/// Those that the calling thread may run on; empty where the system does not say.
[[nodiscard]] Cores thread_cores() noexcept;
/// How many these are; 1 where the system does not say.
[[nodiscard]] int thread_core_count() noexcept;
/// Those of the machine that are there; empty where the system does not say.
[[nodiscard]] Cores online_cores();

/// What a thread gets that asks for these cores, tried in one of its own.
[[nodiscard]] Cores granted_cores(Cores const& asked);

}  // namespace sluice
