// The rules, for one request. See independent.hpp.
#include "file/plan/independent.hpp"

namespace sluice {

/// Smaller pieces of memory are better copied together than handed to the system one by one.
static constexpr Bytes gathered_piece_bytes = 4 * 1024;

IndependentRule independent_rule(PlanLimits const& limits, Direction direction, Rank ranks,
                                 Bytes independent_piece_bytes) noexcept {
    if (!limits.machine) return {0, independent_piece_bytes};
    return independent_rule(*limits.machine, direction, ranks);
}

bool wants_independent(Request const& r, Hints const& hints, IndependentRule const& rule) noexcept {
    if (r.bytes <= 0) return false;
    if (r.atomic) return true;                          // Locked as a whole, so moved as a whole.
    if (!r.view.filetype->is_ascending()) return true;  // Cannot be searched by offset.
    Strategy const hint = r.direction == Direction::write ? hints.write : hints.read;
    if (hint != Strategy::automatic) return hint == Strategy::independent;
    std::int64_t const parts = r.memory->piece_count(0, r.bytes);
    if (parts > 1 && r.bytes / parts < gathered_piece_bytes) return false;
    std::int64_t const pieces = piece_count(r);
    return r.bytes / pieces >= (pieces == 1 ? rule.contiguous_bytes : rule.piece_bytes);
}

}  // namespace sluice
