// A RoundInput is what one rank must know of one round of one aggregator. This pure function takes
// it from the claims of all ranks that take part; schedule_round.hpp makes the ops of it.
#pragma once
#include "file/plan/plan_cache.hpp"
#include "file/plan/schedule_round.hpp"

namespace sluice {

/// All but the numbers that go on from operation to operation: `queue_round` is the plan's round,
/// `taken_before` 0. A rank that carries must have the claims of others.
[[nodiscard]] RoundInput round_input(Topology const& topology, Rank self, Plan const& plan,
                                     Claims const& claims, std::int32_t aggregator,
                                     std::int64_t round);

}  // namespace sluice
