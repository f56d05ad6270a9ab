// These functions find out which ranks run under Sluice, since the library may exchange its own
// messages with those alone. Ranks without it, and processes that the job has spawned or connected
// to, take part in no collective call but the program's own.
#pragma once
#include <mpi.h>

namespace sluice {

/// Before MPI is initialised: this process can be seen by the others of its node from then on.
void show_this_process();

/// Whether all ranks of the communicator, on both sides of an intercommunicator, run under Sluice,
/// of the same version and with the settings that must agree. The same on all of them. No message,
/// where the launcher tells who is on the node.
[[nodiscard]] bool all_have_sluice(MPI_Comm communicator);

/// Before MPI goes away: what a later session asks is asked anew.
void forget_peers();

/// The same of all processes that were launched together with this one.
[[nodiscard]] bool world_has_sluice();

/// Where all_have_sluice() could not see ranks of other nodes: waits for them, once, and says after
/// some seconds that they do not come. Collective, blocks.
void wait_for_unseen(MPI_Comm communicator);

}  // namespace sluice
