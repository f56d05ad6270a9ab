// Mode `calls`: a rank that blocks in MPI must go on moving operations, or ranks that wait for
// these, and would only then come to the call that it blocks in, would wait for ever.
#pragma once
#include <mpi.h>

namespace sluice {

/// Before a blocking collective call of the MPI: until all ranks are at it, moving operations on.
/// Then none of them waits for an operation. Collective; does nothing but in mode `calls`.
void meet(MPI_Comm communicator);

}  // namespace sluice
