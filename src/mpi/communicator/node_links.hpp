// NodeLinks carry messages between the nodes of a communicator: over libfabric, where the process
// has one Fabric for all communicators, else over the MPI.
#pragma once
#include "base/topology.hpp"
#include "transport/fabric.hpp"

#include <memory>
#include <mpi.h>
#include <vector>

namespace sluice {

/// Whether the settings and this machine let messages go over a fabric. Asked before MPI is
/// initialised: then no thread of the library calls MPI between nodes. Local.
[[nodiscard]] bool fabric_is_offered();

class NodeLinks {
public:
    /// Opens the fabric where this process has none yet, tells all ranks of it, and tries it once
    /// between neighbouring nodes; else takes the MPI. False, on all ranks, where neither can be
    /// used: a warning says why. `name`: of these ranks, and of no others in the job. Collective
    /// over `communicator`, blocks.
    bool connect(MPI_Comm communicator, Topology const& topology, std::uint64_t name);

    /// For the files of the communicator; null before connect().
    [[nodiscard]] Network* of_files() const noexcept { return of_files_.get(); }
    [[nodiscard]] bool has_fabric() const noexcept { return fabric_ != nullptr; }
    /// For a communicator of some of the ranks, to which all of them give this name. Null where
    /// there is no fabric.
    [[nodiscard]] std::unique_ptr<Network> network(std::uint64_t name,
                                                   std::vector<Rank> const& ranks) const;

private:
    bool join_fabric(MPI_Comm communicator, Topology const& topology);
    bool gets_through(Topology const& topology, Rank self) const;

    std::uint64_t name_ = 0;
    Fabric* fabric_ = nullptr;        ///< Null: messages go over the MPI.
    std::vector<FabricIndex> peers_;  ///< By rank.
    std::unique_ptr<Network> of_files_;
};

}  // namespace sluice
