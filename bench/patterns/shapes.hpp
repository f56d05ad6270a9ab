// The shapes behind the names of patterns: one rank's tile of the file. Pure. Used by pattern.cpp.
#pragma once
#include "bench/patterns/pattern.hpp"

namespace sluice::patterns {

/// What one rank holds of a tile; the tile holds all ranks' bytes.
struct Shape {
    Sections pieces;
    Bytes extent = 0;                  ///< Of the tile.
    std::int64_t tiles = 1;            ///< In one call.
    Bytes element_bytes = word_bytes;  ///< Of the etype.
    Offset displacement = 0;  ///< Of the first tile: ranks whose pieces are alike differ in it.
};

struct Place {
    PatternSpec const& spec;
    Rank rank, ranks;
};

[[nodiscard]] Shape contiguous(Place const& place);
[[nodiscard]] Shape strided(Place const& place);
[[nodiscard]] Shape blocks(Place const& place);
[[nodiscard]] Shape holes(Place const& place);
[[nodiscard]] Shape btio(Place const& place);
[[nodiscard]] Shape irregular(Place const& place);
[[nodiscard]] Shape random(Place const& place);
[[nodiscard]] Shape e3sm(Place const& place);
[[nodiscard]] Shape flash(Place const& place);
[[nodiscard]] Shape sparse(Place const& place);

/// p of p x p ranks, or 0.
[[nodiscard]] Rank square_root(Rank ranks) noexcept;

}  // namespace sluice::patterns
