// A Team is what the library sets up once for the ranks of a communicator. It owns the parts, and
// makes them in order: what the node shares, links between nodes, the watch for lost ranks, and the
// operation queues of files.
#pragma once
#include "base/mixed.hpp"
#include "base/topology.hpp"
#include "mpi/communicator/node_links.hpp"
#include "mpi/communicator/node_share.hpp"
#include "mpi/communicator/profile.hpp"
#include "mpi/communicator/rank_watch.hpp"

#include <atomic>
#include <memory>
#include <mpi.h>

namespace sluice {

class FingerprintKey;
class Queues;

class Team {
public:
    /// The team of a communicator, made at the first call and kept as its attribute. Null, on all
    /// ranks, when the communicator cannot be served: then the MPI is left to itself. When the
    /// program frees the communicator, its team serves the next one of the same ranks. Collective.
    static std::shared_ptr<Team> of(MPI_Comm communicator);
    /// Before MPI goes away: teams of a later session have another key. Closed files keep their
    /// team to the end of the process, without its communicator.
    static void forget_all();

    /// `own` is the library's, and this frees it.
    explicit Team(MPI_Comm own);
    ~Team();
    Team(Team const&) = delete;
    Team& operator=(Team const&) = delete;

    /// A number for the opening of a file, which other openings do not have. Local: another rank
    /// may get another one.
    [[nodiscard]] std::uint64_t new_opening() noexcept { return mixed(name_, ++openings_); }

    /// Calls MPI so that it can make progress on what the program gave it.
    void poke() const;

    /// Of each word all ranks learn the largest: over memory on one node, by the MPI between
    /// several. Collective, blocks.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine);
    /// Over memory of all ranks. This rank's own words where a rank is lost.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine,
                                               NodeReduction& meeting);

    MPI_Comm communicator;
    Rank const self;
    std::int32_t cores_a_node = 1;  ///< That the ranks of each node may use: the fewest.
    std::unique_ptr<Topology> topology;
    std::unique_ptr<NodeShare> node;
    NodeLinks links;
    std::unique_ptr<RankWatch> watch;
    std::unique_ptr<Queues> queues;
    /// Uses of it by files whose close has returned: these make no collective call on it.
    std::atomic<long> uses_by_closed{0};
    std::atomic<std::uint64_t> files_opened{0};  ///< In the same order on all ranks.
    KnownProfiles profiles;                      ///< The same on all ranks.

private:
    static std::shared_ptr<Team> revive(MPI_Comm communicator, bool& is_one_too_many);
    void free_communicator();
    bool set_up();
    std::shared_ptr<FingerprintKey const> agree_on_name_and_key();
    void set_up_node();

    std::uint64_t name_ = 0;  ///< The same on all ranks, and of no other team. Never 0.
    std::atomic<std::uint64_t> openings_{0};
};

}  // namespace sluice
