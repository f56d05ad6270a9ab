// Mode `calls`: a rank that blocks in the MPI must go on moving operations. Otherwise ranks that
// wait for these operations, before they come to the call in which it blocks, would wait for ever.
// In mode `thread` nothing here does anything.
#pragma once
#include "system/environment.hpp"

#include <mpi.h>

namespace sluice {

/// Whether it is mode `calls`. Asked by every collective call, so it is inline.
inline bool calls_drive() { return settings().progress_in_calls && settings().enabled; }

/// Before a blocking collective call of the MPI: until all ranks are at it, moving operations on.
/// Then none of them waits for an operation. Collective.
void barrier_in_calls(MPI_Comm communicator);
inline void progress_barrier(MPI_Comm communicator) {
    if (calls_drive()) barrier_in_calls(communicator);
}

/// The same before a collective call on a file, also on one that is left to the MPI. Of the latter
/// expect_barriers() is told when it is open (collective), and end_barriers() before it is closed,
/// which meets as well.
void progress_barrier(MPI_File handle);
void expect_barriers(MPI_File handle, MPI_Comm communicator);
void end_barriers(MPI_File handle);

/// The same of windows. (Some MPIs have one type for windows and communicators.)
void barrier_at_rma_window(MPI_Win window);
void expect_barriers_at_rma_window(MPI_Win window, MPI_Comm communicator);
void end_barriers_at_rma_window(MPI_Win window);

/// Around MPI_Win_post and MPI_Win_start: the latter must find that all targets have posted, since
/// the MPI would wait for them. One message from each target to each origin.
void tell_posted(MPI_Win window, MPI_Group origins);
void await_posted(MPI_Win window, MPI_Group targets);

/// The same where only the members of a group take part, in a call with this tag. Needs
/// expect_group_meetings(), collective over all processes, before, and end_group_meetings() before
/// these finalize MPI; and members that were launched together.
void group_barrier(MPI_Group group, int tag);
void expect_group_meetings(MPI_Comm world);
void end_group_meetings();

/// Before an intercommunicator is made of two: until the ranks of both are at it. The leader knows
/// that of the other one as the rank `remote` of `peer`.
void barrier_of_both(MPI_Comm communicator, int leader, MPI_Comm peer, int remote, int tag);

}  // namespace sluice
