// A datatype, flattened: the runs of one tile, repeated for ever at a fixed step. Describes user
// memory and file views alike. A place in the stream of bytes that it selects is a *position*; a
// place in memory or in the file is an *offset*. Pure. Users: core/request.hpp, core/copy.hpp.
#pragma once
#include "core/extent.hpp"
#include "core/fingerprint.hpp"
#include "core/once.hpp"

#include <limits>
#include <memory>
#include <vector>

namespace sluice {

/// Immutable; shared by all requests that use it.
class Layout {
public:
    /// `runs` select the bytes of one tile in transfer order; tile i is shifted by i * tile_extent.
    Layout(std::vector<Run> runs, Offset tile_extent);

    /// All bytes, in order: the default view and contiguous memory.
    static std::shared_ptr<Layout const> contiguous();

    [[nodiscard]] std::vector<Run> const& runs() const noexcept { return runs_; }
    /// Calls `visit(Run)` for the runs of one tile in order; a single piece is a run of count 1.
    template <class Visit> void for_each_run(Visit&& visit) const {
        for (Run const& run : runs_) visit(run);
    }
    [[nodiscard]] Bytes tile_bytes() const noexcept { return tile_bytes_; }
    [[nodiscard]] Offset tile_extent() const noexcept { return tile_extent_; }

    /// Bytes before run `index` of a tile.
    [[nodiscard]] Bytes bytes_before(std::size_t index) const noexcept { return before_[index]; }
    [[nodiscard]] std::size_t run_at(Bytes position_in_tile) const noexcept;

    /// One endless piece: position and offset differ by a constant.
    [[nodiscard]] bool is_contiguous() const noexcept { return contiguous_; }
    /// Offsets grow with positions and no byte is selected twice, over all tiles: what a file view
    /// needs before its bytes can be found by offset.
    [[nodiscard]] bool is_ascending() const noexcept { return ascending_; }
    /// Every offset, length and step, or-ed: its lowest set bit divides them all.
    [[nodiscard]] std::uint64_t alignment_bits() const noexcept { return alignment_bits_; }

    /// Offset of the byte at a position.
    [[nodiscard]] Offset offset_at(Bytes position) const noexcept;
    /// First position whose byte lies at or behind `offset`. Needs is_ascending().
    [[nodiscard]] Bytes position_at_or_after(Offset offset) const noexcept;
    /// Pieces that the positions [begin, end) fall into, rounded up; O(log runs).
    [[nodiscard]] std::int64_t piece_count(Bytes begin, Bytes end) const noexcept;

    /// Where core/fingerprint.hpp keeps the fingerprint of one tile.
    [[nodiscard]] Once<Fingerprint> const& fingerprint() const noexcept { return fingerprint_; }

private:
    [[nodiscard]] bool find_ascending() const noexcept;
    [[nodiscard]] std::int64_t pieces_before(Bytes position) const noexcept;

    std::vector<Run> runs_;
    std::vector<Bytes> before_;                ///< Bytes of the tile before run i; one more entry.
    std::vector<std::int64_t> pieces_before_;  ///< Pieces of the tile before run i; one more entry.
    Bytes tile_bytes_ = 0;
    Offset tile_extent_ = 0;
    std::uint64_t alignment_bits_ = 0;
    bool contiguous_ = false;
    bool ascending_ = false;
    Once<Fingerprint> fingerprint_;
};

/// Walks over a layout, run by run, without dividing at each piece.
class Cursor {
public:
    Cursor(Layout const& layout, Bytes position) noexcept;

    /// What lies ahead from here as one run: whole pieces of equal length and step, or the rest of
    /// a piece that was begun. Never empty.
    [[nodiscard]] Run ahead() const noexcept;

    /// Moves on by `bytes`, which must not exceed ahead().bytes().
    void advance(Bytes bytes) noexcept;

private:
    Layout const* layout_;
    Offset tile_begin_ = 0;  ///< Shift of the current tile.
    std::size_t run_ = 0;
    std::int64_t piece_ = 0;  ///< Of the current run.
    Bytes in_piece_ = 0;
};

inline constexpr Bytes endless = std::numeric_limits<Bytes>::max() / 4;

}  // namespace sluice
