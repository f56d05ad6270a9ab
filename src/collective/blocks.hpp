// Blocks present a rank's memory as one stream of bytes: blocks that lie anywhere, contiguous or in
// the layout of a datatype, one after the other. They touch only memory that they are given.
#pragma once
#include "base/request.hpp"
#include "base/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

class Blocks {
public:
    /// Appends `bytes` packed bytes that lie at `base`: together, or as the layout's offsets from
    /// `base` say, tile after tile. Neighbours in memory become one.
    void add(std::byte* base, Bytes bytes, std::shared_ptr<Layout const> layout = nullptr);
    void clear() noexcept;

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    /// True if the two certainly overlap. Of a block with a layout only the first byte is compared,
    /// so an overlap may be missed: the layouts of two blocks may interleave.
    [[nodiscard]] bool shares_memory_with(Blocks const& other) const;
    /// The memory of these positions where they lie together, else null.
    [[nodiscard]] std::byte* contiguous(Bytes at, Bytes bytes) const noexcept {
        if (first_.base && blocks_.empty() && !first_.layout) return first_.base + at;
        return contiguous_in(at, bytes);
    }
    /// Copies from and to packed memory.
    void pack(Bytes at, std::span<std::byte> to) const noexcept;
    void unpack(Bytes at, std::span<std::byte const> from) const noexcept;
    /// What a device copies between the whole stream and packed memory: of a write to there.
    [[nodiscard]] std::vector<Rows> rows(Direction way, std::byte const* packed) const;

private:
    struct Block {
        std::byte* base = nullptr;
        Bytes begin = 0, bytes = 0;            ///< Positions in the stream.
        std::shared_ptr<Layout const> layout;  ///< Null: contiguous.
    };
    /// Bytes that lie together in memory.
    struct Piece {
        std::uintptr_t begin = 0, end = 0;
    };
    [[nodiscard]] static Piece piece_of(Block const& block);
    [[nodiscard]] std::span<Block const> all() const noexcept {
        return blocks_.empty() ? std::span(&first_, first_.base ? 1 : 0) : std::span(blocks_);
    }
    /// From the first piece's begin to the last one's end.
    [[nodiscard]] Piece hull() const;
    [[nodiscard]] Block& last() noexcept { return blocks_.empty() ? first_ : blocks_.back(); }
    void append(Block block);
    [[nodiscard]] bool extend_last(std::byte const* base, Bytes bytes,
                                   Layout const* layout) noexcept;
    [[nodiscard]] Block const* find(Bytes at) const noexcept;
    [[nodiscard]] std::byte* contiguous_in(Bytes at, Bytes bytes) const noexcept;
    template <class Visit> void for_each_part(Bytes at, Bytes bytes, Visit&& visit) const;

    Block first_;                ///< Most streams are one block: no allocation.
    std::vector<Block> blocks_;  ///< All of them, where there are several.
    Bytes bytes_ = 0;
};

}  // namespace sluice
