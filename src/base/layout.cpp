// How positions become offsets and offsets become positions. See layout.hpp.
#include "base/layout.hpp"

#include "base/round_up.hpp"

#include <cstdlib>
#include <utility>

namespace sluice {
namespace {

/// What the pieces of a tile have in common, found in one pass.
class Look {
public:
    explicit Look(Offset begin) noexcept : reached_(begin) {}

    void at(Section const& s) noexcept {
        if (s.is_run()) return at_run(s);
        Offset reached = reached_;
        std::int64_t bits = 0;
        bool ascending = true;
        s.for_each([&](Offset offset, Bytes length) {
            bits |= offset | length;
            ascending &= offset >= reached;
            reached = offset + length;
            reach(offset, reached);
        });
        reached_ = reached;
        bits_ |= static_cast<std::uint64_t>(bits);
        ascending_ &= ascending;
    }

    [[nodiscard]] bool ascending() const noexcept { return ascending_; }
    [[nodiscard]] Offset reached() const noexcept { return reached_; }
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
    [[nodiscard]] Span span() const noexcept { return span_; }

private:
    void reach(Offset begin, Offset end) noexcept {
        span_ = {std::min(span_.begin, begin), std::max(span_.end, end)};
    }

    void at_run(Section const& s) noexcept {
        bits_ |= static_cast<std::uint64_t>(s.offset | s.length);
        if (s.count > 1) bits_ |= static_cast<std::uint64_t>(s.stride);
        ascending_ &= s.offset >= reached_ && (s.count == 1 || s.stride >= s.length);
        Offset const last = s.offset_of(s.count - 1);
        reached_ = last + s.length;
        reach(std::min(s.offset, last), std::max(s.offset, last) + s.length);
    }

    Offset reached_;
    Span span_{reached_, reached_};
    std::uint64_t bits_ = 0;
    bool ascending_ = true;
};

/// Whole pieces among the first `bytes` bytes, which are not all.
std::int64_t pieces_in(Pieces const& p, Bytes bytes) noexcept {
    if (p.lengths == nullptr) return bytes / p.length;
    std::int64_t count = 0;
    while (bytes >= p.lengths[count]) bytes -= p.lengths[count++];
    return count;
}

/// Last piece of an ascending section that does not begin behind `offset`.
std::int64_t last_piece_at(Section const& s, Offset offset) noexcept {
    if (s.count == 1) return 0;
    if (s.is_run()) return std::min((offset - s.offset) / s.stride, s.count - 1);
    auto const* const after = std::upper_bound(s.places, s.places + s.count, offset - s.offset);
    return after - s.places - 1;
}

}  // namespace

Layout::Layout(Sections tile, Offset tile_extent)
    : tile_(std::move(tile)),
      tile_extent_(tile_extent) {
    look_through();
    if (tile_.piece_count() == 1) make_endless();
}

void Layout::look_through() noexcept {
    Offset const begin = tile_.bytes() > 0 ? tile_.all().front().offset : 0;
    Look look(begin);
    for (Section const& section : tile_.all()) look.at(section);
    alignment_bits_ = look.bits() | static_cast<std::uint64_t>(tile_extent_);
    tile_span_ = look.span();
    bool const apart = tile_.bytes() == 0 || tile_extent_ >= look.reached() - begin;
    tile_ascending_ = look.ascending();
    ascending_ = tile_ascending_ && apart;
}

/// The new extent is a multiple of all that divided the old one and the pieces: alignment stays.
std::shared_ptr<Layout const> const& Layout::with_tiles_apart() const {
    return tiles_apart_.get([&] {
        auto const unit = static_cast<Offset>(alignment_bits_ & -alignment_bits_);
        return std::make_shared<Layout const>(tile_, round_up(tile_span_.bytes(), unit));
    });
}

void Layout::make_endless() noexcept {
    endless_ = tile_.all().front();
    contiguous_ = endless_.length == tile_extent_;
    if (contiguous_) {
        endless_.length = endless;
    } else {
        endless_.stride = tile_extent_;
        endless_.count = endless / std::max(endless_.length, std::abs(tile_extent_));
    }
    endless_.bytes = endless_.length * endless_.count;
}

std::shared_ptr<Layout const> Layout::contiguous() {
    // A large tile, so that alignment_bits() says nothing against any alignment.
    static auto const all = std::make_shared<Layout const>(
        std::vector<Run>{{0, Bytes{1} << 40, 0, 1}}, Offset{1} << 40);
    return all;
}

Bytes Layout::memory_bytes() const noexcept {
    return static_cast<Bytes>(sizeof(Layout)) + tile_.memory_bytes();
}

Section const* Layout::section_begin() const noexcept {
    return endless_.count > 0 ? &endless_ : tile_.all().data();
}

Section const* Layout::section_end() const noexcept {
    return endless_.count > 0 ? &endless_ + 1 : tile_.all().data() + tile_.all().size();
}

Layout::Place Layout::place_of(Bytes position) const noexcept {
    Place place;
    place.section = section_begin();
    if (endless_.count == 0) {
        place.tile = position / tile_bytes();
        position %= tile_bytes();
        auto const after = std::upper_bound(section_begin(), section_end(), position,
                                            [](Bytes p, Section const& s) { return p < s.before; });
        place.section = after - 1;
    }
    position -= place.section->before;
    place.piece = pieces_in(*place.section, position);
    place.in_piece = position - place.section->bytes_before(place.piece);
    return place;
}

Offset Layout::offset_at(Bytes position) const noexcept {
    Place const p = place_of(position);
    return p.tile * tile_extent_ + p.section->offset_of(p.piece) + p.in_piece;
}

Bytes Layout::position_at_or_after(Offset offset) const noexcept {
    Offset const origin = section_begin()->offset;
    if (offset <= origin) return 0;
    std::int64_t const tile = endless_.count > 0 ? 0 : (offset - origin) / tile_extent_;
    offset -= tile * tile_extent_;
    auto const after = std::upper_bound(section_begin(), section_end(), offset,
                                        [](Offset o, Section const& s) { return o < s.offset; });
    Section const& section = *(after - 1);
    std::int64_t const piece = last_piece_at(section, offset);
    Bytes const inside = std::min(offset - section.offset_of(piece), section.length_of(piece));
    return tile * tile_bytes() + section.before + section.bytes_before(piece) + inside;
}

std::int64_t Layout::piece_count(Bytes begin, Bytes end) const noexcept {
    if (end <= begin) return 0;
    auto const before = [this](Bytes position) {
        Place const p = place_of(position);
        return p.tile * tile_.piece_count() + p.section->pieces_before + p.piece;
    };
    return before(end - 1) - before(begin) + 1;
}

Cursor::Cursor(Layout const& layout, Bytes position) noexcept : layout_(&layout) {
    Layout::Place const place = layout.place_of(position);
    section_ = place.section;
    tile_begin_ = place.tile * layout.tile_extent();
    piece_ = place.piece;
    in_piece_ = place.in_piece;
    section_left_ = section_->bytes - section_->bytes_before(piece_) - in_piece_;
}

Pieces Cursor::pieces(Bytes room) const noexcept {
    Bytes const left = piece_left();
    if (in_piece_ == 0 && left <= room) return whole_pieces(room);
    Bytes const length = std::min(left, room);
    return {offset(), length, 0, 1, length};
}

Pieces Cursor::whole_pieces(Bytes room) const noexcept {
    Pieces p = *section_;
    p.offset += tile_begin_;
    p.count -= piece_;
    p.bytes = section_left_;
    if (p.is_run()) {
        p.offset += piece_ * p.stride;
    } else {
        p.places += piece_;
        if (p.lengths != nullptr) p.lengths += piece_;
    }
    if (p.bytes <= room) return p;
    p.count = pieces_in(p, room);
    p.bytes = p.bytes_before(p.count);
    return p;
}

void Cursor::advance(Pieces const& pieces) noexcept {
    if (in_piece_ > 0 || pieces.bytes < piece_left()) return advance_in_piece(pieces.bytes);
    section_left_ -= pieces.bytes;
    skip(pieces.count);
}

Run Cursor::ahead() const noexcept {
    if (in_piece_ > 0 || !section_->is_run()) return {offset(), piece_left(), 0, 1};
    return {offset(), section_->length, section_->stride, section_->count - piece_};
}

void Cursor::advance_in_piece(Bytes bytes) noexcept {
    in_piece_ += bytes;
    section_left_ -= bytes;
    if (in_piece_ == section_->length_of(piece_)) skip(1);
}

void Cursor::skip(std::int64_t count) noexcept {
    in_piece_ = 0;
    piece_ += count;
    if (piece_ < section_->count) return;
    piece_ = 0;
    if (++section_ == layout_->section_end()) {
        section_ = layout_->section_begin();
        tile_begin_ += layout_->tile_extent();
    }
    section_left_ = section_->bytes;
}

}  // namespace sluice
