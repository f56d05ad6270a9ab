// The schedule of one cycle of one aggregator, and of what goes to the file without one. Pure.
#pragma once
#include "file/plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace sluice {

/// One message that an aggregator takes in a cycle.
struct CycleSource {
    Rank rank = 0;
    Bytes bytes = 0;  ///< Of data in it, at most.
};

/// An upper bound of a message with a coverage, with or without the `bytes` that it covers.
[[nodiscard]] Bytes message_bytes_max(Plan const& plan, Bytes bytes) noexcept;

/// What the generator of cycles must know beside the plan.
struct CycleInput {
    std::int32_t aggregator = 0;
    std::int64_t cycle = 0;            ///< Of the plan's domain.
    std::int64_t stream_cycle = 0;     ///< The same, counted over all operations of the stream.
    bool contributes = false;          ///< This rank claims the cycle.
    bool node_claims = false;          ///< This rank's node does; carriers only.
    std::int64_t local_claimants = 0;  ///< Ranks of the node that do; carriers only.
    std::int64_t taken_before = 0;     ///< Messages of the operation; aggregator only.
    std::vector<CycleSource> sources;  ///< In the order of delivery; aggregator only.
    Bytes answer_bytes = 0;            ///< At most, of what this rank asks for; reads only.
};

/// All that this rank does in one cycle of one aggregator.
[[nodiscard]] Schedule make_cycle(Topology const& topology, Rank self, Plan const& plan,
                                  CycleInput const& input);

/// How many contributions a rank posts to the slot in one cycle.
[[nodiscard]] constexpr std::int64_t posts_a_cycle(Plan const& plan) noexcept {
    return plan.direction == Direction::write || plan.covered ? 1 : 2;
}

/// A rank's own bytes, straight between its memory and the file.
[[nodiscard]] Schedule make_direct(Direction direction);

}  // namespace sluice
