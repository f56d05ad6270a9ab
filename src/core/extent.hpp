// Byte ranges as strided runs: the one way in which this library describes scattered data. Pure:
// values in, values out. A regular pattern of any size is one run; adjacent pieces merge while they
// are added. Next stage: core/layout.hpp repeats runs to describe a datatype.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice {

using Offset =
    std::int64_t;  ///< A place in a file or in memory, in bytes; memory's may be negative.
using Bytes = std::int64_t;  ///< A length in bytes; never negative.

/// A half-open byte range of the file. Empty when end <= begin.
struct Span {
    Offset begin = 0, end = 0;
    [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
    [[nodiscard]] constexpr Bytes bytes() const noexcept { return empty() ? 0 : end - begin; }
    bool operator==(Span const&) const = default;
};

/// The part of `a` that lies in `b`.
constexpr Span clip(Span a, Span b) noexcept {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// `count` pieces of `length` bytes; piece i begins at offset + i * stride.
struct Run {
    Offset offset = 0;
    Bytes length = 0;
    Offset stride = 0;  ///< May be negative or zero in memory; in a file it is >= length.
    std::int64_t count = 0;
    [[nodiscard]] constexpr Bytes bytes() const noexcept { return length * count; }
    [[nodiscard]] constexpr Offset last_begin() const noexcept {
        return offset + (count - 1) * stride;
    }
    bool operator==(Run const&) const = default;
};

/// Runs in the order in which their bytes are transferred, merged as far as one look back allows.
class Extents {
public:
    /// Appends a run; empty ones vanish. Amortised O(1).
    void add(Run run);

    /// Appends `times` copies of `runs`, each `step` bytes after the one before, beginning at
    /// `shift`. A dense block that repeats becomes one run, not `times` pieces.
    void add_repeated(std::vector<Run> const& runs, Offset shift, std::int64_t times, Offset step);

    [[nodiscard]] std::vector<Run> const& runs() const noexcept { return runs_; }
    [[nodiscard]] std::vector<Run> take() && noexcept { return std::move(runs_); }

private:
    void add_piece(Offset offset, Bytes length);
    bool extend_last(Run const& run);

    std::vector<Run> runs_;
};

}  // namespace sluice
