// These pure functions make the schedule of one round of one aggregator, and that of a rank's
// independent bytes.
#pragma once
#include "file/plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace sluice {

/// One message that an aggregator takes in a round.
struct RoundSource {
    Rank rank = 0;
    Bytes bytes = 0;  ///< Of data in it, at most.
};

/// An upper bound of a message with a coverage, with or without the `bytes` that it covers.
[[nodiscard]] Bytes message_bytes_max(Plan const& plan, Bytes bytes) noexcept;

/// What the generator of rounds must know beside the plan.
struct RoundInput {
    std::int32_t aggregator = 0;
    std::int64_t round = 0;  ///< Of the plan's domain.
    std::int64_t queue_round =
        0;                     ///< The same, counted over all operations of the operation queue.
    bool contributes = false;  ///< This rank claims the round.
    bool node_claims = false;  ///< This rank's node does; local aggregators only.
    std::int64_t local_claimants = 0;  ///< Ranks of the node that do; local aggregators only.
    std::int64_t taken_before = 0;     ///< Messages of the operation; aggregator only.
    std::vector<RoundSource> sources;  ///< In the order of delivery; aggregator only.
    Bytes answer_bytes = 0;            ///< At most, of what this rank asks for; reads only.
};

/// All that this rank does in one round of one aggregator.
[[nodiscard]] Schedule make_round(Topology const& topology, Rank self, Plan const& plan,
                                  RoundInput const& input);

/// How many contributions a rank posts to the collective buffer in one round.
[[nodiscard]] constexpr std::int64_t posts_a_round(Plan const& plan) noexcept {
    return plan.direction == Direction::write || plan.covered ? 1 : 2;
}

/// A rank's own bytes, straight between its memory and the file.
[[nodiscard]] Schedule make_independent(Direction direction);

}  // namespace sluice
