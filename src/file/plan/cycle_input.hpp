// From the claims of all that take part to what one rank must know of one cycle. Pure. Previous
// stage: file/plan/claims.hpp; next: file/plan/schedule_cycle.hpp.
#pragma once
#include "file/plan/plan_cache.hpp"
#include "file/plan/schedule_cycle.hpp"

namespace sluice {

/// All but the numbers that go on from operation to operation: `stream_cycle` is the plan's cycle,
/// `taken_before` 0. A rank that carries must have the claims of others.
[[nodiscard]] CycleInput cycle_input(Topology const& topology, Rank self, Plan const& plan,
                                     Claims const& claims, std::int32_t aggregator,
                                     std::int64_t cycle);

}  // namespace sluice
