// What the operations of a queue hand on from one to the next.
#pragma once
#include "file/run/answers.hpp"
#include "file/run/exchange.hpp"

#include <vector>

namespace sluice {

/// An operation of the queue, as far as later ones must know which bytes it touches.
struct Recent {
    std::int64_t number = 0;
    Span reach;       ///< Of all ranks.
    Request request;  ///< Of this rank.
    /// Some rank may write. All ranks must say the same: an operation that has failed counts, as
    /// some ranks may have called a read, and others a write.
    bool writes = false;
};

/// Progress of the operation queue's rounds, carried from one operation to the next. Equal on all
/// ranks, but for what belongs to the node.
struct QueueState {
    /// By aggregator, on this node: of as many as an operation has had so far.
    std::vector<std::int64_t> next_round;
    std::vector<std::int64_t> next_shared_round;  ///< The same without rounds by groups.
    RoundOrder order;                             ///< Of the operations under way.
    PlanCache plans;
    std::int64_t board_uses[board_use_count][board_count]{};
    std::vector<Weights> weighed;  ///< Of boards, when they were used last; empty: never.
    Answers answers;
    std::vector<Recent> recent;  ///< Ordered operations, as many as may be under way at once.

    /// Counters of a board go on from its earlier uses, which are counted: how many there were.
    [[nodiscard]] std::int64_t use_board(BoardUse use, std::int64_t operation) noexcept {
        return board_uses[use][board_of(operation)]++;
    }
};

/// What the operations ahead in the operation queue still have to do first, on this rank.
struct Ahead {
    bool planned = true;
    std::vector<bool> generating;  ///< By aggregator: rounds that were not admitted yet.
    /// By aggregator: this rank has a message of its node to send or to take, when the round gets
    /// there. Messages of its own, which wait for no turn, must not overtake it.
    std::vector<bool> carrying;
    std::int64_t oldest = -1;  ///< The first that is not complete; -1: all are.
};

}  // namespace sluice
