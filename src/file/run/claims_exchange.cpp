// Where the claims of an operation come from. See claims_exchange.hpp.
#include "file/run/claims_exchange.hpp"

#include "file/plan/schedule_claims.hpp"

#include <utility>

namespace sluice {

bool ClaimsExchange::reuse(PlanLookup const& lookup) {
    state_.claims = queue_.plans.find(lookup, state_.plan);
    reused_ = state_.claims != nullptr;
    if (reused_) rounds_.start();
    return reused_;
}

Schedule ClaimsExchange::begin(std::shared_ptr<Weights const> const& weights) {
    state_.board_uses_before[boards_of_claims] =
        queue_.use_board(boards_of_claims, state_.operation);
    state_.claims = std::make_shared<Claims>();
    queue_.plans.store(state_.operation, state_.exchanged(), state_.plan, state_.claims, weights);
    state_.claims->own = make_claims(state_.exchanged(), state_.plan, execution_context_.local());
    state_.claims->local.resize(static_cast<std::size_t>(state_.plan.aggregator_count()));
    rounds_.start();
    return make_claims_exchange(*execution_context_.topology, execution_context_.self, state_.plan,
                                state_.operation);
}

void ClaimsExchange::end() {
    if (reused_) return;
    Claims& claims = *state_.claims;
    for (std::int32_t a = 0; a < rounds_.aggregator_count(); ++a) {
        if (!rounds_.carries(a)) continue;
        auto& of_node = claims.local[static_cast<std::size_t>(a)];
        for (Rank local = 0; local < execution_context_.local_count(); ++local)
            of_node.push_back(execution_context_.region.claim(state_.operation, local, a));
    }
    claims.complete = true;
    std::int32_t const own = rounds_.own_aggregator();
    if (own < 0) return;
    auto sources = sources_of(std::exchange(state_.claims_received, {}),
                              *execution_context_.topology, state_.plan, own);
    if (sources) claims.sources = std::move(*sources);
    if (!sources) state_.fail({.status = Status::other, .what = "claims cannot be unpacked"});
}

}  // namespace sluice
