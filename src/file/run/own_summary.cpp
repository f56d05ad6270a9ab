// How a call is summed up. See own_summary.hpp.
#include "file/run/own_summary.hpp"

namespace sluice {
namespace {

/// What this node offers all of them.
void offer_staging(ExecutionContext const& execution_context, Hints const& hints,
                   std::int64_t operation, Summary& s) {
    PlanLimits const& limits = execution_context.limits;
    auto const wish = wished_window_bytes(hints, limits);
    auto const many = hints.aggregator_count > 0 ? hints.aggregator_count : limits.aggregator_count;
    auto const most = std::min(std::max<std::int32_t>(many, hints.group_count),
                               execution_context.region.shape().aggregator_count);
    bool const in_turn = hints.data.kernel == Kernel::pairwise;
    auto const staging = execution_context.reserve({operation, most, wish, in_turn});
    s.cb_buffer_bytes = staging.cb_buffer_bytes;
    s.cb_buffer_count = cb_buffers_per_aggregator;
    s.staged_whole = staging.whole ? 1 : 0;
}

}  // namespace

Summary own_summary(ExecutionContext const& execution_context, PlanCache const& plans,
                    Call const& call, ExchangeState const& state, bool pending) {
    Summary s = summarise(state.exchanged(), scope_of(call.hints, *execution_context.topology,
                                                      execution_context.limits));
    if (state.independent) s.independent = load_of(state.request);
    if (call.ordered) s.reach = reach_of(state.request, call.reads_beyond_end);
    s.plan_lookup = plans.plan_lookup(state.exchanged());
    s.hints = call.hints;
    s.status = state.status;
    s.end_of_file = state.end_of_file;
    if (state.independent) s.pending = pending;
    s.waiting = call.may_block;
    s.foretold = call.foretold;
    if (execution_context.leads()) offer_staging(execution_context, call.hints, state.operation, s);
    return s;
}

}  // namespace sluice
