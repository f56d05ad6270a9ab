// See cycle_input.hpp.
#include "file/plan/cycle_input.hpp"

namespace sluice {

CycleInput cycle_input(Topology const& topology, Rank self, Plan const& plan, Claims const& claims,
                       std::int32_t aggregator, std::int64_t cycle) {
    auto const a = static_cast<std::size_t>(aggregator);
    CycleInput input;
    input.aggregator = aggregator;
    input.cycle = input.stream_cycle = cycle;
    input.contributes = claims.own[a].contains(cycle);
    input.answer_bytes = claims.own[a].cycle_bytes;
    if (carrier(topology, plan, topology.node_of(self), aggregator) != self) return input;
    Claim of_node;
    for (Claim const& claim : claims.local[a]) {
        of_node = join(of_node, claim);
        if (claim.contains(cycle)) ++input.local_claimants;
    }
    input.node_claims = of_node.contains(cycle);
    if (!plan.one_layer()) input.answer_bytes = of_node.cycle_bytes;
    if (sluice::aggregator(topology, plan, aggregator) != self) return input;
    for (Source const& source : claims.sources) {
        if (!source.claim.contains(cycle)) continue;
        input.sources.push_back({source.rank, source.claim.cycle_bytes});
    }
    return input;
}

}  // namespace sluice
