// The Rounds of an operation are the rounds of all aggregators that concern this rank. They are
// admitted to the executor in the order of the operation queue, as many at once as an aggregator
// has collective buffers.
#pragma once
#include "file/plan/round_input.hpp"
#include "file/run/executor.hpp"
#include "file/run/queue_state.hpp"

#include <string>

namespace sluice {

class Rounds {
public:
    Rounds(ExecutionContext const& execution_context, QueueState& queue, ExchangeState& state,
           Executor& executor) noexcept
        : execution_context_(execution_context),
          queue_(queue),
          state_(state),
          executor_(executor) {}

    /// Takes the numbers of all rounds of the plan, in the operation queue's order, whatever
    /// happens later. This rank's own claims must be known.
    void start();

    /// Admits what may begin now; true when anything did. Aggregators for which this rank carries
    /// its node's bytes are left out until all claims of the node are known.
    bool admit(Ahead const& ahead, bool claims_known);
    /// A schedule that was admitted is complete. Its id was the aggregator's number.
    void completed(std::int32_t aggregator) { --cursors_[place(aggregator)].active; }

    [[nodiscard]] bool all_admitted() const noexcept;
    /// This rank carries its node's bytes to or from the aggregator.
    [[nodiscard]] bool carries(std::int32_t aggregator) const noexcept {
        return cursors_[place(aggregator)].carries;
    }
    [[nodiscard]] bool carries_any() const noexcept;
    /// The aggregator that this rank is; -1: none.
    [[nodiscard]] std::int32_t own_aggregator() const noexcept;
    [[nodiscard]] std::int32_t aggregator_count() const noexcept {
        return static_cast<std::int32_t>(cursors_.size());
    }
    /// What the operations behind this one must wait for.
    void tell_those_behind(Ahead& ahead) const;
    /// Which round each aggregator is in, for people.
    [[nodiscard]] std::string describe() const;

private:
    struct Cursor {  ///< One aggregator's rounds, as far as they concern this rank.
        std::int64_t next = 0, end = 0;
        std::int32_t active = 0;
        bool carries = false;    ///< This rank carries for its node.
        bool owns = false;       ///< It is the aggregator.
        bool in_turn = false;    ///< Its message leaves after that to the aggregator before.
        std::int64_t taken = 0;  ///< Messages that were asked for.

        [[nodiscard]] bool all_admitted() const noexcept { return next >= end; }
    };

    static std::size_t place(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }
    void take_numbers();
    [[nodiscard]] Cursor cursor_of(std::int32_t aggregator) const;
    [[nodiscard]] bool may_send(std::int32_t aggregator) const;
    void admit_next(std::int32_t aggregator);
    [[nodiscard]] bool must_stay_behind(std::size_t aggregator, Ahead const& ahead) const noexcept;
    [[nodiscard]] RoundInput input_of(std::int32_t aggregator, std::int64_t round) const;

    ExecutionContext const& execution_context_;
    QueueState& queue_;
    ExchangeState& state_;
    Executor& executor_;
    std::vector<Cursor> cursors_;      ///< By aggregator.
    std::vector<std::int32_t> order_;  ///< Of aggregators, in which rounds are admitted.
};

}  // namespace sluice
