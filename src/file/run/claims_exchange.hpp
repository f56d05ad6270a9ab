// The claims of an operation: in which rounds the ranks take part. They are exchanged, or those of
// an earlier operation with the same plan serve once more.
#pragma once
#include "file/run/rounds.hpp"

namespace sluice {

class ClaimsExchange {
public:
    ClaimsExchange(ExecutionContext const& execution_context, QueueState& queue,
                   ExchangeState& state, Rounds& rounds) noexcept
        : execution_context_(execution_context),
          queue_(queue),
          state_(state),
          rounds_(rounds) {}

    /// True where claims serve once more. All ranks decide alike: from the exchange of summaries,
    /// and from plans that they stored together.
    bool reuse(PlanLookup const& lookup);
    [[nodiscard]] bool reused() const noexcept { return reused_; }

    /// This rank's own, and the schedule that exchanges them.
    [[nodiscard]] Schedule begin(std::shared_ptr<Weights const> const& weights);
    /// Those that serve once more may still be on their way, for the operation that stored them.
    [[nodiscard]] bool are_complete() const noexcept { return !reused_ || state_.claims->complete; }
    /// Keeps them off the board, which others will use again.
    void end();

private:
    ExecutionContext const& execution_context_;
    QueueState& queue_;
    ExchangeState& state_;
    Rounds& rounds_;
    bool reused_ = false;
};

}  // namespace sluice
