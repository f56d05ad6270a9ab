// Planning turns what all ranks want into the plan of an operation. It knows only what all ranks
// know, so all make the same plan.
#pragma once
#include "file/run/execution_context.hpp"
#include "file/run/queue_state.hpp"

namespace sluice {

/// Where it is said, the merged summary of all ranks is asked for.
class Planning {
public:
    Planning(ExecutionContext const& execution_context, QueueState& queue,
             ExchangeState& state) noexcept
        : execution_context_(execution_context),
          queue_(queue),
          state_(state) {}

    /// Decides how the bytes go. False where the ranks must first tell each other where in the span
    /// their bytes lie, which the summary does not say: with a plan that is remembered its weights
    /// are.
    [[nodiscard]] bool decide(Summary const& all);
    /// What this rank tells, and what is decided once all have told it.
    void begin_weights(Summary const& all);
    void end_weights(Summary const& all);

    /// Into the operation's state.
    void make(Summary const& all);
    /// Where the plan needs it: from the records of the node's ranks, which are still on the board.
    void divide_by_groups(Summary const& all);

    [[nodiscard]] Decision const& decision() const noexcept { return decision_; }
    /// That the decision was made with.
    [[nodiscard]] std::shared_ptr<Weights const> const& weights() const noexcept {
        return weights_;
    }

private:
    void decide_with_weights(Summary const& all);

    ExecutionContext const& execution_context_;
    QueueState& queue_;
    ExchangeState& state_;
    Decision decision_;
    std::shared_ptr<Weights const> weights_;
};

}  // namespace sluice
