// Writes that are delayed at the same time may overlap where the keepers of all ranks know of each
// other: then these write what is left in the order of the calls.
#pragma once
#include "mpi/communicator/team.hpp"

namespace sluice {

/// Tells the keeper of each rank of those of the others. False, on all ranks, where these are not
/// all ranks of the program, are on several nodes, or some of them cannot reach the journals of
/// others; also where some have no journal in memory, unless none has: then nothing outlives its
/// rank, and no order is lost. `node_bytes`: of write-behind, the same on all ranks. Collective
/// over the team's communicator; blocks.
[[nodiscard]] bool introduce_keepers(Team& team, Bytes node_bytes);

}  // namespace sluice
