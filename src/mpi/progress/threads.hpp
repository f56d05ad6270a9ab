// What the library's own threads may do: SLUICE_AFFINITY says on which cores they run, and the MPI
// says whether they may call it.
#pragma once
#include <atomic>
#include <mpi.h>

namespace sluice {

inline std::atomic<bool> multiple_granted{false};

/// What MPI_Query_thread said: other threads than the program's call MPI only with
/// MPI_THREAD_MULTIPLE.
inline void set_thread_multiple(bool multiple) noexcept { multiple_granted = multiple; }
[[nodiscard]] inline bool thread_multiple() noexcept { return multiple_granted; }

/// Called when MPI is initialised, before any thread of the library is started. Collective over
/// `world`, all ranks that were started together, for SLUICE_AFFINITY=spread; MPI_COMM_NULL, where
/// nobody can tell what the other ranks' cores are: as `inherit`.
void settle_threads(MPI_Comm world);

}  // namespace sluice
