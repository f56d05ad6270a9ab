// Endpoints are the ways between ranks for collectives between memories. Those of the world serve
// every communicator within it, so that no set-up can make a nonblocking call wait.
#pragma once
#include "collective/algorithm_choice.hpp"
#include "mpi/communicator/team.hpp"
#include "transport/node_network.hpp"

#include <memory>
#include <optional>

namespace sluice {

class Endpoints {
public:
    /// Collective over `communicator`, blocks. Null, on all of its ranks, where it cannot be.
    [[nodiscard]] static std::shared_ptr<Endpoints> make(MPI_Comm communicator);

    /// The one that was made for the world (or a session's group) when MPI began; null: none was.
    [[nodiscard]] static std::shared_ptr<Endpoints> of_world();
    /// Collective over MPI_COMM_WORLD.
    static void set_up_world();
    static void forget_world();

    /// The members of a communicator, as ranks of this endpoints; nothing when it reaches not all.
    [[nodiscard]] std::optional<std::vector<Rank>> members(MPI_Comm communicator) const;
    [[nodiscard]] bool is_one_node(std::vector<Rank> const& members) const;
    /// Of each member the local index on this node, -1 on another one.
    [[nodiscard]] std::vector<Rank> local_indices(std::vector<Rank> const& members) const;
    /// What the choice of algorithms must know; equal on all members.
    [[nodiscard]] CollectiveWorld world(std::vector<Rank> const& members) const;
    /// Of the communicator for which they were made.
    [[nodiscard]] std::uint64_t name() const noexcept { return name_; }

    [[nodiscard]] NodeNetwork& node() noexcept { return *node_; }
    [[nodiscard]] Team const& team() const noexcept { return *team_; }

private:
    bool connect();
    void agree_on_costs_and_name();

    std::shared_ptr<Team> team_;
    std::shared_ptr<NodeNetwork> node_;
    CollectiveWorld costs_;  ///< Without ranks.
    std::uint64_t name_ = 0;
};

}  // namespace sluice
