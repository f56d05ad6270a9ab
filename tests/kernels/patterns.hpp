// The patterns of the kernel benchmark: what one rank of four holds, the same at every start.
#pragma once
#include "base/request.hpp"

#include <string>

namespace sluice::kernels {

inline constexpr Bytes request_bytes = Bytes{4} << 20;
inline constexpr Offset ranks = 4;

/// Numbers without an order; the same at every start.
class Source {
public:
    std::int64_t below(std::int64_t limit) noexcept {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(limit));
    }

private:
    std::uint64_t state_ = 1;
};

/// The pieces of a pattern, as the constructors of a datatype would give them.
struct Pattern {
    std::vector<Run> runs;
    Offset extent = 0;
};

/// Short pieces of any length, next to those of other ranks: about 90 bytes each.
inline Pattern irregular() {
    Pattern all;
    Source source;
    Bytes bytes = 0;
    while (bytes < request_bytes) {
        Bytes const length = 8 + 8 * source.below(21);
        all.runs.push_back({all.extent, length, 0, 1});
        all.extent += length;
        for (int other = 1; other < ranks; ++other) all.extent += 8 + 8 * source.below(21);
        bytes += length;
    }
    return all;
}

/// Single elements, often a row of 64 elements apart, in bursts: decomposition 3 of E3SM's F case.
inline Pattern elements() {
    Pattern all;
    Source source;
    while (all.runs.size() < request_bytes / 8) {
        std::int64_t const burst = 1 + source.below(6);
        for (std::int64_t i = 0; i < burst; ++i) {
            all.runs.push_back({all.extent, 8, 0, 1});
            all.extent += 8 * (source.below(4) == 0 ? 2 + source.below(40) : 64);
        }
        all.extent += 8 * source.below(100);
    }
    return all;
}

/// Rows of a few cells of 40 bytes each, in planes.
inline Pattern cells() {
    Pattern all;
    for (Bytes bytes = 0; bytes < request_bytes; bytes += 15 * 600) {
        all.runs.push_back({all.extent, 600, 2400, 15});
        all.extent += 2400 * 61;
    }
    return all;
}

/// A block of an array of three dimensions: rows of 512 bytes, `step` apart, `plane` rows a plane.
inline Pattern block(Offset step, Offset plane) {
    Pattern all;
    for (Bytes bytes = 0; bytes < request_bytes; bytes += 64 * 512) {
        all.runs.push_back({all.extent, 512, step, 64});
        all.extent += step * plane;
    }
    return all;
}

inline Pattern strided(Bytes length) { return {{{length, length, 0, 1}}, length * ranks}; }

inline std::shared_ptr<Layout const> layout_of(Pattern const& pieces) {
    Extents extents;
    for (Run const& run : pieces.runs) extents.add(run);
    return std::make_shared<Layout const>(std::move(extents).take(), pieces.extent);
}

/// A request for all bytes of a pattern, by its name; memory is contiguous but for blocks.
inline Request request_of(std::string const& pattern) {
    Request r;
    r.bytes = request_bytes;
    if (pattern == "strided64") r.view.filetype = layout_of(strided(64));
    if (pattern == "irregular") r.view.filetype = layout_of(irregular());
    if (pattern == "elements") r.view.filetype = layout_of(elements());
    if (pattern == "cells") r.view.filetype = layout_of(cells());
    if (pattern == "block") {
        r.view.filetype = layout_of(block(1024, 128));
        r.memory = layout_of(block(544, 66));
    }
    return r;
}

}  // namespace sluice::kernels
