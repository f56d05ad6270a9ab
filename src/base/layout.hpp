// A datatype, flattened: the pieces of one tile, repeated for ever at a fixed step. Describes user
// memory and file views alike. A place in the stream of bytes that it selects is a *position*; a
// place in memory or in the file is an *offset*. Pure. Users: base/request.hpp, base/copy.hpp.
#pragma once
#include "base/extent.hpp"
#include "base/fingerprint.hpp"
#include "base/memo.hpp"
#include "base/once.hpp"

#include <limits>
#include <memory>
#include <vector>

namespace sluice {

inline constexpr Bytes endless = std::numeric_limits<Bytes>::max() / 4;
/// Offsets and numbers of bytes beyond it are refused where a call is captured: all that is
/// reckoned with smaller ones fits into 64 bits.
inline constexpr Offset offset_limit = endless;

/// Immutable; shared by all requests that use it.
class Layout {
public:
    /// `tile` selects the bytes of one tile in transfer order; tile i is shifted by
    /// i * tile_extent.
    Layout(Sections tile, Offset tile_extent);

    /// All bytes, in order: the default view and contiguous memory.
    static std::shared_ptr<Layout const> contiguous();

    /// Calls `visit(Run)` for the runs of one tile in order; a single piece is a run of count 1.
    template <class Visit> void for_each_run(Visit&& visit) const { tile_.for_each_run(visit); }
    [[nodiscard]] Bytes tile_bytes() const noexcept { return tile_.bytes(); }
    [[nodiscard]] Offset tile_extent() const noexcept { return tile_extent_; }
    /// From the lowest to the highest offset of a tile's bytes.
    [[nodiscard]] Span tile_span() const noexcept { return tile_span_; }
    /// What it holds, lists that it shares with others included.
    [[nodiscard]] Bytes memory_bytes() const noexcept;

    /// One endless piece: position and offset differ by a constant.
    [[nodiscard]] bool is_contiguous() const noexcept { return contiguous_; }
    /// Offsets grow with positions and no byte is selected twice, over all tiles: what a file view
    /// needs before its bytes can be found by offset.
    [[nodiscard]] bool is_ascending() const noexcept { return ascending_; }
    /// The same within one tile; its successors may overlap it.
    [[nodiscard]] bool tile_is_ascending() const noexcept { return tile_ascending_; }
    /// The same first tile, with successors that lie behind it. Needs tile_is_ascending().
    [[nodiscard]] std::shared_ptr<Layout const> const& with_tiles_apart() const;
    /// Every offset, length and step, or-ed: its lowest set bit divides them all.
    [[nodiscard]] std::uint64_t alignment_bits() const noexcept { return alignment_bits_; }

    /// Offset of the byte at a position.
    [[nodiscard]] Offset offset_at(Bytes position) const noexcept;
    /// First position whose byte lies at or behind `offset`. Needs is_ascending().
    [[nodiscard]] Bytes position_at_or_after(Offset offset) const noexcept;
    /// Pieces that the positions [begin, end) fall into, rounded up; O(log pieces).
    [[nodiscard]] std::int64_t piece_count(Bytes begin, Bytes end) const noexcept;

    /// Where base/fingerprint.hpp keeps the fingerprints of one tile.
    using Fingerprints = Memo<FingerprintKey::Point, Fingerprint>;
    [[nodiscard]] Fingerprints const& fingerprints() const noexcept { return fingerprints_; }

private:
    friend class Cursor;

    /// A position, taken apart.
    struct Place {
        std::int64_t tile = 0;
        Section const* section = nullptr;
        std::int64_t piece = 0;
        Bytes in_piece = 0;
    };

    void look_through() noexcept;
    void make_endless() noexcept;
    [[nodiscard]] Place place_of(Bytes position) const noexcept;
    [[nodiscard]] Section const* section_begin() const noexcept;
    [[nodiscard]] Section const* section_end() const noexcept;

    Sections tile_;
    /// Stands for all tiles where a tile is one piece: those are the pieces of one endless run.
    Section endless_;
    Offset tile_extent_ = 0;
    Span tile_span_;
    std::uint64_t alignment_bits_ = 0;
    bool contiguous_ = false;
    bool ascending_ = false;
    bool tile_ascending_ = false;
    Once<std::shared_ptr<Layout const>> tiles_apart_;
    Fingerprints fingerprints_;
};

/// Walks over a layout, section by section, without dividing at each piece.
class Cursor {
public:
    Cursor(Layout const& layout, Bytes position) noexcept;

    /// Offset of the byte that lies ahead.
    [[nodiscard]] Offset offset() const noexcept {
        return tile_begin_ + section_->offset_of(piece_) + in_piece_;
    }
    /// Bytes from here to the end of the piece.
    [[nodiscard]] Bytes piece_left() const noexcept {
        return section_->length_of(piece_) - in_piece_;
    }

    /// The whole pieces of a section that lie ahead, as far as they have room in `room` > 0 bytes;
    /// or a part of one piece. Never empty.
    [[nodiscard]] Pieces pieces(Bytes room) const noexcept;
    /// Moves on by what pieces() gave, or by the first of them.
    void advance(Pieces const& pieces) noexcept;

    /// What lies ahead as a run: whole pieces of equal length and step, or the rest of one.
    [[nodiscard]] Run ahead() const noexcept;
    /// Moves on by `bytes`, which must not exceed piece_left().
    void advance_in_piece(Bytes bytes) noexcept;

private:
    [[nodiscard]] Pieces whole_pieces(Bytes room) const noexcept;
    void skip(std::int64_t count) noexcept;

    Layout const* layout_;
    Section const* section_;
    Offset tile_begin_;   ///< Shift of the current tile.
    std::int64_t piece_;  ///< Of the current section.
    Bytes in_piece_;
    Bytes section_left_;  ///< From here to the end of the section.
};

}  // namespace sluice
