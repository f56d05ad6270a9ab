// These functions find out which ranks run under Sluice, because the library exchanges messages of
// its own with no others. Ranks without it, and processes that the job has spawned or connected
// to, take part in no collective call but the program's own.
#pragma once
#include <mpi.h>

namespace sluice {

/// Called before MPI is initialised: from then on the other processes of the node see this one.
void show_this_process();

/// Whether all ranks of the communicator, on both sides of an intercommunicator, run under Sluice,
/// of the same version and with the settings that must agree. The same on all of them. Needs
/// no message where the launcher tells which ranks are on the node.
[[nodiscard]] bool all_have_sluice(MPI_Comm communicator);

/// Before MPI goes away: a later session finds out anew.
void forget_peers();

/// The same for all processes that were launched together with this one.
[[nodiscard]] bool world_has_sluice();

/// Where all_have_sluice() could not see ranks of other nodes: waits for them, once, and
/// warns after some seconds that they do not come. Collective, blocks.
void wait_for_unseen(MPI_Comm communicator);

}  // namespace sluice
