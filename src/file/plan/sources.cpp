// From messages to sources. See sources.hpp.
#include "file/plan/sources.hpp"

#include "file/plan/delivery.hpp"

namespace sluice {
namespace {

/// Whose claims a message holds: those of its sender, of its sender's node, or of all ranks of it.
std::vector<Rank> claimants(Rank sender, Topology const& topology, Plan const& plan,
                            std::int32_t a) {
    Node const node = topology.node_of(sender);
    if (!plan.one_layer()) return {local_aggregator(topology, plan, node, a)};
    if (plan.metadata.layers == Layers::one) return {sender};
    std::vector<Rank> all;
    for (Rank l = 0; l < topology.local_count(node); ++l) all.push_back(topology.rank_at(node, l));
    return all;
}

}  // namespace

std::optional<std::vector<Source>> sources_of(ClaimMessages const& messages,
                                              Topology const& topology, Plan const& plan,
                                              std::int32_t a) {
    std::map<Rank, Claim> claims;
    for (auto const& [sender, message] : messages) {
        std::size_t at = 0;
        for (Rank const rank : claimants(sender, topology, plan, a)) {
            auto const claim = decode_claim(message, at);
            if (!claim) return std::nullopt;
            if (!claim->empty()) claims[rank] = join(claims[rank], *claim);
        }
    }
    std::vector<Rank> order;
    for (auto const& [rank, claim] : claims) order.push_back(rank);
    sort_by_delivery(order, plan.data, topology, a, plan.aggregator_count());
    std::vector<Source> sources;
    for (Rank const rank : order) sources.push_back({rank, claims[rank]});
    return sources;
}

}  // namespace sluice
