// The fabric of this process, where messages between nodes go over libfabric and not over the MPI:
// whether it is wanted, how it is opened, and how the ranks of a communicator come to know each
// other on it.
#pragma once
#include "base/topology.hpp"
#include "transport/fabric.hpp"

#include <mpi.h>
#include <optional>
#include <vector>

namespace sluice {

/// Whether the settings and this machine let messages go over a fabric. Asked before MPI is
/// initialised: then no thread of the library calls MPI between nodes. Local.
[[nodiscard]] bool fabric_is_offered();

/// The ranks of one communicator on the fabric, by rank.
struct FabricRanks {
    Fabric* fabric = nullptr;
    std::vector<FabricIndex> peers;

    /// The network of such of these ranks. `context` is of them alone.
    [[nodiscard]] std::unique_ptr<Network> network(std::uint64_t context,
                                                   std::vector<Rank> const& ranks) const;
    [[nodiscard]] std::unique_ptr<Network> network(std::uint64_t context) const;
};

/// Opens the fabric where this process has none yet, tells all ranks of it, and tries it once
/// between neighbouring nodes. Nothing, on all ranks, where one of them has none or does not get
/// through: a warning says why. Collective over `communicator`, blocks. `context` is this try's
/// alone.
[[nodiscard]] std::optional<FabricRanks>
join_fabric(MPI_Comm communicator, Topology const& topology, std::uint64_t context);

}  // namespace sluice
