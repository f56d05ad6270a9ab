// These functions decide whether a rank's bytes go straight between its memory and the file,
// without an exchange. Each rank decides for itself, because its bytes land in the same places
// either way. The functions are pure.
#pragma once
#include "file/plan/decision.hpp"

namespace sluice {

[[nodiscard]] bool wants_independent(Request const& request, Hints const& hints,
                                     IndependentRule const& rule) noexcept;

/// The rule of a measured machine; else `independent_piece_bytes`, from what the storage knows.
[[nodiscard]] IndependentRule independent_rule(PlanLimits const& limits, Direction direction,
                                               Rank ranks, Bytes independent_piece_bytes) noexcept;

}  // namespace sluice
