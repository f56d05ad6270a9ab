// Mode `calls`: a rank that blocks in MPI must go on moving operations, or ranks that wait for
// these, and would only then come to the call that it blocks in, would wait for ever.
#pragma once
#include <mpi.h>

namespace sluice {

/// Before a blocking collective call of the MPI: until all ranks are at it, moving operations on.
/// Then none of them waits for an operation. Collective; does nothing but in mode `calls`.
void meet(MPI_Comm communicator);

/// The same before a collective call on a file, also on one that is left to the MPI. Of the latter
/// expect_meetings() is told when it is open (collective), and end_meetings() before it is closed,
/// which meets as well.
void meet(MPI_File handle);
void expect_meetings(MPI_File handle, MPI_Comm communicator);
void end_meetings(MPI_File handle);

}  // namespace sluice
