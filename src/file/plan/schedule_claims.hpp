// This pure function makes the schedule that brings claims to the aggregators.
#pragma once
#include "file/plan/claims.hpp"
#include "schedule/schedule.hpp"

namespace sluice {

/// Brings the claims to the aggregators: one message of each other node and aggregator, or of each
/// rank of other nodes, maybe with claims of nothing.
[[nodiscard]] Schedule make_claims_exchange(Topology const& topology, Rank self, Plan const& plan,
                                            std::int64_t operation);

}  // namespace sluice
