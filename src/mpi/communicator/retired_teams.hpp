// The teams of communicators that were freed. The last few are kept for the next communicator of
// the same ranks, because libraries duplicate a communicator for each file.
#pragma once
#include <memory>
#include <mpi.h>

namespace sluice {

class Team;

/// Keeps it, and ends the oldest where there are too many.
void retire(std::shared_ptr<Team> team);

/// The youngest that fits the communicator, taken out of the list: other threads must not wait for
/// this one. One that another thread looks at as well may be passed over. Null: none. Calls MPI.
[[nodiscard]] std::shared_ptr<Team> take_retired(MPI_Comm communicator);

/// Before MPI goes away.
void forget_retired_teams();

}  // namespace sluice
