// How an operation gets its plan. See planning.hpp.
#include "file/run/planning.hpp"

namespace sluice {

void Planning::decide_with_weights(Summary const& all) {
    decision_ = sluice::decide(all, *execution_context_.topology, execution_context_.limits,
                               weights_.get());
}

bool Planning::decide(Summary const& all) {
    weights_ = queue_.plans.weights(all.plan_lookup);
    decide_with_weights(all);
    bool const moves = all.bytes > 0 && all.status == Status::ok;
    if (moves && decision_.needs_weights) return false;
    static auto const even = std::make_shared<Weights const>(Weights::even());
    if (!weights_) weights_ = even;  // The decision is the same with any others.
    return true;
}

void Planning::begin_weights(Summary const& all) {
    state_.weights = std::make_unique<WeightsReduction>();
    state_.weights->record = weigh(state_.exchanged(), all.span);
    if (!queue_.weighed.empty())
        state_.weights->sums_before = queue_.weighed[board_of(state_.operation)];
}

void Planning::end_weights(Summary const& all) {
    queue_.weighed.resize(board_count);
    queue_.weighed[board_of(state_.operation)] = state_.weights->sums;
    weights_ = std::make_shared<Weights const>(state_.weights->result());
    decide_with_weights(all);
    state_.weights.reset();
}

void Planning::make(Summary const& all) {
    if (decision_.free && !state_.independent) {
        queue_.answers.note(state_.request, decision_.way.strategy);
    }
    state_.plan = make_plan(decision_, all, *execution_context_.topology, execution_context_.limits,
                            weights_.get());
}

void Planning::divide_by_groups(Summary const& all) {
    std::vector<Summary> records;
    for (Rank local = 0; local < execution_context_.local_count(); ++local) {
        records.push_back(
            execution_context_.region.record(Channel::summary_exchange, state_.operation, local));
    }
    sluice::divide_by_groups(state_.plan, all, *execution_context_.topology,
                             execution_context_.node(), records, decision_.way.aggregators,
                             execution_context_.limits.key.get());
}

}  // namespace sluice
