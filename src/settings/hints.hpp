// The hints that shape a plan: plain values, the same on all ranks.
#pragma once
#include "base/extent.hpp"
#include "settings/delivery.hpp"

namespace sluice {

inline constexpr Bytes window_bytes_default = Bytes{1} << 20;  ///< In the last cache of a core.

/// How the span is divided among aggregators.
enum class Domains : std::uint8_t {
    automatic,
    even,      ///< One stretch each, of equal length.
    cyclic,    ///< Stripes in turn: what one storage server of a striped file holds.
    balanced,  ///< One stretch each, with equal bytes wanted in it.
    groups,    ///< Ranks are divided in its place: see file/plan/groups.hpp.
};

char const* describe(Domains domains) noexcept;

enum class Strategy : std::uint8_t { automatic, two_phase, independent };

/// Hints that shape a plan. Rank 0's are used; others that differ are reported, not obeyed.
struct Hints {
    Bytes window_bytes = 0;             ///< 0: the library decides.
    Bytes stripe_bytes = 0;             ///< 0: not known.
    std::int32_t aggregator_count = 0;  ///< 0: the library decides.
    Strategy write = Strategy::automatic;
    Strategy read = Strategy::automatic;
    Domains domains = Domains::automatic;
    std::uint8_t group_count = 0;   ///< Of each node; 0: the library decides.
    std::int32_t stripe_count = 0;  ///< Storage servers of the file; 0: not known.
    Delivery metadata, data;
    bool operator==(Hints const&) const = default;
};

}  // namespace sluice
