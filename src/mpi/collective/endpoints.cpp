// How endpoints are set up, and ranks translated. See endpoints.hpp.
#include "mpi/collective/endpoints.hpp"

#include "mpi/attribute.hpp"
#include "mpi/communicator/names.hpp"
#include "mpi/ranks.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

struct World {
    std::mutex mutex;
    std::shared_ptr<Endpoints> endpoints;
};
World& world_endpoints() {
    static auto* const only = new World;
    return *only;
}

/// The network between the ranks of a node, in memory of their team: the team may outlast the
/// endpoints, and serve others.
Attribute<NodeNetwork> network_of_team([](std::shared_ptr<NodeNetwork>) {});

}  // namespace

std::shared_ptr<Endpoints> Endpoints::make(MPI_Comm communicator) {
    auto endpoints = std::make_shared<Endpoints>();
    endpoints->team_ = Team::of(communicator);
    if (!endpoints->team_) return nullptr;
    if (!endpoints->connect()) return nullptr;
    endpoints->agree_on_costs_and_name();
    return endpoints;
}

bool Endpoints::connect() {
    if (auto known = network_of_team.get(team_->communicator)) {
        node_ = *std::move(known);
        return true;
    }
    Topology const& topology = *team_->topology;
    Node const own = topology.node_of(team_->self);
    auto memory = team_->node->messages();
    if (!all_agree(memory.has_value(), team_->communicator)) {
        warn("no shared memory for messages: the MPI serves collectives itself");
        return false;
    }
    Rank const count = topology.local_count(own);
    node_ = std::make_shared<NodeNetwork>(*std::move(memory), topology.local_index(team_->self),
                                          count, team_->node->doorbells());
    NodeNetwork::Address const mine = node_->address();
    std::vector<NodeNetwork::Address> all(static_cast<std::size_t>(topology.rank_count()));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                   team_->communicator);
    std::vector<NodeNetwork::Address> near;
    for (Rank i = 0; i < count; ++i) {
        near.push_back(all[static_cast<std::size_t>(topology.rank_at(own, i))]);
    }
    bool const copies = all_agree(node_->can_copy_from(near), team_->communicator);
    if (!copies)
        note("large messages on a node are copied twice: ranks may not read each other's memory");
    node_->use_copies(copies, near);
    network_of_team.set(team_->communicator, node_);
    return true;
}

/// What the machine's profile says of messages: that of the folder in which rank 0 works.
void Endpoints::agree_on_costs_and_name() {
    struct {
        ProfileOffer offer;
        std::uint64_t name = 0;
    } told;
    if (team_->self == 0) told = {offer_profile("."), draw_name()};
    PMPI_Bcast(&told, sizeof told, MPI_BYTE, 0, team_->communicator);
    name_ = told.name;
    auto const machine = take_profile(told.offer, *team_);
    if (!machine) return;
    costs_.between = machine->between;
    costs_.copy_byte = machine->copy_byte;
}

std::shared_ptr<Endpoints> Endpoints::of_world() {
    std::lock_guard const lock(world_endpoints().mutex);
    return world_endpoints().endpoints;
}

void Endpoints::set_up_world() {
    auto endpoints = make(MPI_COMM_WORLD);
    if (endpoints) begin_names(MPI_COMM_WORLD, endpoints->name());
    std::lock_guard const lock(world_endpoints().mutex);
    world_endpoints().endpoints.swap(endpoints);
}

void Endpoints::forget_world() {
    forget_names();
    network_of_team.forget();
    std::shared_ptr<Endpoints> endpoints;  // Ends after the lock: its team frees a communicator.
    std::lock_guard const lock(world_endpoints().mutex);
    endpoints.swap(world_endpoints().endpoints);
}

std::optional<std::vector<Rank>> Endpoints::members(MPI_Comm communicator) const {
    auto ranks = ranks_in(team_->communicator, communicator);
    if (std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end()) return std::nullopt;
    return ranks;
}

bool Endpoints::is_one_node(std::vector<Rank> const& members) const {
    Topology const& topology = *team_->topology;
    return std::all_of(members.begin(), members.end(), [&](Rank rank) {
        return topology.node_of(rank) == topology.node_of(members.front());
    });
}

std::vector<Rank> Endpoints::local_indices(std::vector<Rank> const& members) const {
    Topology const& topology = *team_->topology;
    std::vector<Rank> local;
    local.reserve(members.size());
    for (Rank const rank : members) {
        bool const near = topology.node_of(rank) == topology.node_of(team_->self);
        local.push_back(near ? topology.local_index(rank) : -1);
    }
    return local;
}

CollectiveWorld Endpoints::world(std::vector<Rank> const& members) const {
    std::map<Node, Rank> on_node;
    for (Rank const rank : members) ++on_node[team_->topology->node_of(rank)];
    CollectiveWorld world = costs_;
    world.ranks = static_cast<Rank>(members.size());
    world.nodes = static_cast<Node>(on_node.size());
    for (auto const& [node, ranks] : on_node) {
        world.most_on_a_node = std::max(world.most_on_a_node, ranks);
    }
    world.cores_a_node = team_->cores_a_node;
    return world;
}

}  // namespace sluice
