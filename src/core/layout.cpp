// Positions and offsets of flattened datatypes. Pure.
#include "core/layout.hpp"

#include <utility>

namespace sluice {
namespace {

Offset run_begin(Run const& run) noexcept { return std::min(run.offset, run.last_begin()); }
Offset run_end(Run const& run) noexcept {
    return std::max(run.offset, run.last_begin()) + run.length;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

Layout::Layout(std::vector<Run> runs, Offset tile_extent)
    : runs_(std::move(runs)),
      tile_extent_(tile_extent) {
    before_.reserve(runs_.size() + 1);
    pieces_before_.reserve(runs_.size() + 1);
    std::int64_t pieces = 0;
    for (Run const& run : runs_) {
        before_.push_back(tile_bytes_);
        pieces_before_.push_back(pieces);
        tile_bytes_ += run.bytes();
        pieces += run.count;
        alignment_bits_ |= static_cast<std::uint64_t>(run.offset | run.length);
        if (run.count > 1) alignment_bits_ |= static_cast<std::uint64_t>(run.stride);
    }
    before_.push_back(tile_bytes_);
    pieces_before_.push_back(pieces);
    alignment_bits_ |= static_cast<std::uint64_t>(tile_extent_);
    contiguous_ = runs_.size() == 1 && runs_[0].count == 1 && runs_[0].length == tile_extent_;
    ascending_ = find_ascending();
}

std::shared_ptr<Layout const> Layout::contiguous() {
    // A large tile, so that alignment_bits() says nothing against any alignment.
    static auto const all = std::make_shared<Layout const>(
        std::vector<Run>{{0, Bytes{1} << 40, 0, 1}}, Offset{1} << 40);
    return all;
}

bool Layout::find_ascending() const noexcept {
    if (runs_.empty()) return true;
    Offset reached = run_begin(runs_.front());
    for (Run const& run : runs_) {
        if (run.offset < reached) return false;
        if (run.count > 1 && run.stride < run.length) return false;
        reached = run_end(run);
    }
    return tile_extent_ >= reached - runs_.front().offset;
}

std::size_t Layout::run_at(Bytes position_in_tile) const noexcept {
    auto const after = std::upper_bound(before_.begin(), before_.end() - 1, position_in_tile);
    return static_cast<std::size_t>(after - before_.begin()) - 1;
}

Offset Layout::offset_at(Bytes position) const noexcept {
    return Cursor(*this, position).ahead().offset;
}

Bytes Layout::position_at_or_after(Offset offset) const noexcept {
    if (contiguous_) return std::max<Bytes>(0, offset - runs_[0].offset);
    Offset const origin = runs_.front().offset;
    if (offset <= origin) return 0;
    std::int64_t const tile = tile_extent_ > 0 ? floor_div(offset - origin, tile_extent_) : 0;
    Offset const local = offset - tile * tile_extent_;
    auto const run = std::partition_point(runs_.begin(), runs_.end(),
                                          [&](Run const& r) { return run_end(r) <= local; });
    auto const index = static_cast<std::size_t>(run - runs_.begin());
    Bytes found = tile * tile_bytes_ + before_[index];
    if (run == runs_.end() || local <= run->offset) return found;
    std::int64_t const piece = run->count > 1 ? (local - run->offset) / run->stride : 0;
    Bytes const inside = local - (run->offset + piece * run->stride);
    return found + piece * run->length + std::min(inside, run->length);
}

std::int64_t Layout::pieces_before(Bytes position) const noexcept {
    std::int64_t const tile = position / tile_bytes_;
    Bytes const local = position % tile_bytes_;
    std::size_t const run = run_at(local);
    return tile * pieces_before_.back() + pieces_before_[run] +
           (local - before_[run]) / runs_[run].length;
}

std::int64_t Layout::piece_count(Bytes begin, Bytes end) const noexcept {
    if (end <= begin) return 0;
    if (contiguous_) return 1;
    return pieces_before(end - 1) - pieces_before(begin) + 1;
}

Cursor::Cursor(Layout const& layout, Bytes position) noexcept : layout_(&layout) {
    if (layout.is_contiguous()) {  // One piece without end: tiles do not matter.
        in_piece_ = position;
        return;
    }
    std::int64_t const tile = position / layout.tile_bytes();
    Bytes const local = position % layout.tile_bytes();
    tile_begin_ = tile * layout.tile_extent();
    run_ = layout.run_at(local);
    Bytes const in_run = local - layout.bytes_before(run_);
    piece_ = in_run / layout.runs()[run_].length;
    in_piece_ = in_run % layout.runs()[run_].length;
}

Run Cursor::ahead() const noexcept {
    Run const& run = layout_->runs()[run_];
    if (layout_->is_contiguous()) return {run.offset + in_piece_, endless, 0, 1};
    Offset const at = tile_begin_ + run.offset + piece_ * run.stride + in_piece_;
    if (in_piece_ > 0) return {at, run.length - in_piece_, 0, 1};
    // One piece a tile: the tiles themselves are the pieces of one endless run.
    bool const periodic = layout_->runs().size() == 1 && run.count == 1;
    if (periodic) return {at, run.length, layout_->tile_extent(), endless / run.length};
    return {at, run.length, run.stride, run.count - piece_};
}

void Cursor::advance(Bytes bytes) noexcept {
    if (layout_->is_contiguous()) {
        in_piece_ += bytes;
        return;
    }
    Run const& run = layout_->runs()[run_];
    bool const single = layout_->runs().size() == 1 && run.count == 1;
    Bytes const total = in_piece_ + bytes;
    if (single) {
        tile_begin_ += total / run.length * layout_->tile_extent();
        in_piece_ = total % run.length;
        return;
    }
    piece_ += total / run.length;
    in_piece_ = total % run.length;
    if (piece_ < run.count) return;
    piece_ = 0;
    if (++run_ < layout_->runs().size()) return;
    run_ = 0;
    tile_begin_ += layout_->tile_extent();
}

}  // namespace sluice
