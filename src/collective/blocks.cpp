// How blocks are found, packed and unpacked. See blocks.hpp.
#include "collective/blocks.hpp"

#include "base/copy.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void Blocks::add(std::byte* base, Bytes bytes, std::shared_ptr<Layout const> layout) {
    if (bytes == 0) return;
    if (layout != nullptr) {
        Cursor const first(*layout, 0);
        if (first.piece_left() >= bytes) base += first.offset(), layout.reset();
    }
    if (!extend_last(base, bytes, layout.get())) {
        append({base, bytes_, bytes, std::move(layout)});
    }
    bytes_ += bytes;
}

void Blocks::append(Block block) {
    if (bytes_ == 0) {
        first_ = std::move(block);
        return;
    }
    if (blocks_.empty()) blocks_.push_back(first_);
    blocks_.push_back(std::move(block));
}

void Blocks::clear() noexcept {
    first_ = {};
    blocks_.clear();
    bytes_ = 0;
}

/// Whether these bytes are what follows the last block in memory too.
bool Blocks::extend_last(std::byte const* base, Bytes bytes, Layout const* layout) noexcept {
    Block& block = last();
    if (block.bytes == 0 || block.layout.get() != layout) return false;
    if (layout == nullptr) {
        if (base != block.base + block.bytes) return false;
    } else {
        Bytes const tiles = block.bytes / layout->tile_bytes();
        if (block.bytes != tiles * layout->tile_bytes()) return false;
        if (base != block.base + tiles * layout->tile_extent()) return false;
    }
    block.bytes += bytes;
    return true;
}

/// The block with this position, which must be there.
Blocks::Block const* Blocks::find(Bytes at) const noexcept {
    if (blocks_.empty()) return &first_;
    auto const after = std::upper_bound(blocks_.begin(), blocks_.end(), at,
                                        [](Bytes a, Block const& b) { return a < b.begin; });
    return &*(after - 1);
}

std::byte* Blocks::contiguous_in(Bytes at, Bytes bytes) const noexcept {
    Block const& block = *find(at);
    Bytes const inside = at - block.begin;
    if (inside + bytes > block.bytes || inside == block.bytes) return nullptr;
    // The analyzer warns of a null base: MPI_BOTTOM is one, and its offsets are addresses.
    if (block.layout == nullptr) return block.base + inside;  // NOLINT
    Cursor const cursor(*block.layout, inside);
    return cursor.piece_left() >= bytes ? block.base + cursor.offset() : nullptr;  // NOLINT
}

/// Calls `visit(Block, position in the block, bytes)` along the stream.
template <class Visit> void Blocks::for_each_part(Bytes at, Bytes bytes, Visit&& visit) const {
    for (Block const* block = bytes > 0 ? find(at) : nullptr; bytes > 0; ++block) {
        Bytes const inside = at - block->begin;
        Bytes const part = std::min(bytes, block->bytes - inside);
        visit(*block, inside, part);
        at += part;
        bytes -= part;
    }
}

void Blocks::pack(Bytes at, std::span<std::byte> to) const noexcept {
    std::byte* next = to.data();
    for_each_part(at, std::ssize(to), [&](Block const& block, Bytes inside, Bytes bytes) {
        if (block.layout == nullptr) {
            std::memcpy(next, block.base + inside, static_cast<std::size_t>(bytes));
        } else {
            copy(Cursor(*Layout::contiguous(), 0), next, Cursor(*block.layout, inside), block.base,
                 bytes);
        }
        next += bytes;
    });
}

void Blocks::unpack(Bytes at, std::span<std::byte const> from) const noexcept {
    std::byte const* next = from.data();
    for_each_part(at, std::ssize(from), [&](Block const& block, Bytes inside, Bytes bytes) {
        if (block.layout == nullptr) {
            std::memcpy(block.base + inside, next, static_cast<std::size_t>(bytes));
        } else {
            copy(Cursor(*block.layout, inside), block.base, Cursor(*Layout::contiguous(), 0), next,
                 bytes);
        }
        next += bytes;
    });
}

std::vector<Rows> Blocks::rows(Direction way, std::byte const* packed) const {
    std::vector<Rows> all;
    auto const ours = reinterpret_cast<Offset>(packed);
    for_each_part(0, bytes_, [&](Block const& block, Bytes, Bytes bytes) {
        Layout const& layout = block.layout ? *block.layout : *Layout::contiguous();
        Cursor const at_base(layout, 0), at_packed(*Layout::contiguous(), block.begin);
        auto const base = reinterpret_cast<Offset>(block.base);
        if (way == Direction::write)
            append_rows(all, at_packed, ours, at_base, base, bytes);
        else
            append_rows(all, at_base, base, at_packed, ours, bytes);
    });
    return all;
}

Blocks::Piece Blocks::piece_of(Block const& block) {
    auto const begin = reinterpret_cast<std::uintptr_t>(block.base);
    if (!block.layout) return {begin, begin + static_cast<std::uintptr_t>(block.bytes)};
    auto const first = begin + static_cast<std::uintptr_t>(block.layout->offset_at(0));
    return {first, first + 1};
}

Blocks::Piece Blocks::hull() const {
    Piece hull{UINTPTR_MAX, 0};
    for (Block const& block : all()) {
        Piece const piece = piece_of(block);
        hull = {std::min(hull.begin, piece.begin), std::max(hull.end, piece.end)};
    }
    return hull;
}

bool Blocks::shares_memory_with(Blocks const& other) const {
    if (bytes_ == 0 || other.bytes_ == 0) return false;
    Piece const one = hull(), two = other.hull();
    if (one.end <= two.begin || two.end <= one.begin) return false;
    // Blocks of one may lie between those of the other. Rare enough to sort them.
    std::vector<Piece> mine;
    for (Block const& block : all()) mine.push_back(piece_of(block));
    std::ranges::sort(mine, {}, &Piece::begin);
    for (std::size_t i = 1; i < mine.size(); ++i)  // What is sent may overlap itself.
        mine[i].end = std::max(mine[i].end, mine[i - 1].end);
    return std::ranges::any_of(other.all(), [&](Block const& block) {
        Piece const piece = piece_of(block);
        auto const after = std::ranges::lower_bound(mine, piece.end, {}, &Piece::begin);
        return after != mine.begin() && std::prev(after)->end > piece.begin;
    });
}

}  // namespace sluice
