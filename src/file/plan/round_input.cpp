// How the sources and the receivers of a round are found in the claims. See round_input.hpp.
#include "file/plan/round_input.hpp"

namespace sluice {

RoundInput round_input(Topology const& topology, Rank self, Plan const& plan, Claims const& claims,
                       std::int32_t aggregator, std::int64_t round) {
    auto const a = static_cast<std::size_t>(aggregator);
    RoundInput input;
    input.aggregator = aggregator;
    input.round = input.queue_round = round;
    input.contributes = claims.own[a].contains(round);
    input.answer_bytes = claims.own[a].round_bytes;
    if (local_aggregator(topology, plan, topology.node_of(self), aggregator) != self) return input;
    Claim of_node;
    for (Claim const& claim : claims.local[a]) {
        of_node = join(of_node, claim);
        if (claim.contains(round)) ++input.local_claimants;
    }
    input.node_claims = of_node.contains(round);
    if (!plan.one_layer()) input.answer_bytes = of_node.round_bytes;
    if (sluice::aggregator(topology, plan, aggregator) != self) return input;
    for (Source const& source : claims.sources) {
        if (!source.claim.contains(round)) continue;
        input.sources.push_back({source.rank, source.claim.round_bytes});
    }
    return input;
}

}  // namespace sluice
