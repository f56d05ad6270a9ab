// Whether a rank's bytes go straight between its memory and the file, without an exchange. Each
// rank decides for itself: its bytes land in the same places either way. Pure.
#pragma once
#include "file/plan/decision.hpp"

namespace sluice {

[[nodiscard]] bool wants_direct(Request const& request, Hints const& hints,
                                DirectRule const& rule) noexcept;

/// The rule of a measured machine; else `direct_piece_bytes`, from what the storage knows.
[[nodiscard]] DirectRule direct_rule(PlanLimits const& limits, Direction direction, Rank ranks,
                                     Bytes direct_piece_bytes) noexcept;

}  // namespace sluice
