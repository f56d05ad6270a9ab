// SLUICE_AFFINITY says on which cores the library's threads run.
#pragma once
#include <mpi.h>

namespace sluice {

/// Called when MPI is initialised, before any thread of the library is started. Collective over
/// `world`, all ranks that were started together, for SLUICE_AFFINITY=spread; MPI_COMM_NULL, where
/// nobody can tell what the other ranks' cores are: as `inherit`.
void settle_threads(MPI_Comm world);

}  // namespace sluice
