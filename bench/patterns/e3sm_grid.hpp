// The cases of E3SM-IO at the size of their production runs. The files that say which rank held
// which points are not published, but the counts are: points, requests, variables, ranks
// (docs/variables.md and case_study.md of Parallel-NetCDF/E3SM-IO). Points come in short runs, and
// a rank's runs lie all over the grid, as in the published map of 16 ranks. Pure.
#pragma once
#include "bench/patterns/shapes.hpp"

#include <span>

namespace sluice::patterns {

/// Arrays that follow each other in the file and whose points are dealt to ranks alike: variables,
/// or their levels where a level is a line of points.
struct GridArrays {
    std::int64_t points;    ///< Of an array.
    std::int64_t requests;  ///< Of all ranks for an array: runs of neighbouring points.
    std::int64_t elements;  ///< Of a point that lie together: its levels, or 1.
    std::int64_t count;     ///< Of arrays.
};

struct GridCase {
    char const* name;     ///< Of the pattern.
    Rank ranks;           ///< Of the production run.
    Bytes element_bytes;  ///< Most of its variables are of this type.
    std::span<GridArrays const> arrays;

    [[nodiscard]] Bytes bytes() const noexcept;            ///< Of the whole file.
    [[nodiscard]] std::int64_t requests() const noexcept;  ///< Of all ranks.
};

/// Null: no case has this name.
[[nodiscard]] GridCase const* grid_case(std::string const& name) noexcept;

/// Where run `number` of an array begins, in points: runs are as even as they can be.
[[nodiscard]] std::int64_t begin_of_run(GridArrays const& arrays, std::int64_t number) noexcept;

/// One rank's part of the first `place.spec.bytes` a rank of a case, by the name in `place.spec`;
/// whole arrays, or less than one. Every rank draws as many runs of an array as every other.
[[nodiscard]] Shape e3sm_grid(Place const& place);

}  // namespace sluice::patterns
