// A rank's memory as one stream of bytes: blocks that lie anywhere, contiguous or in the layout of
// a datatype, one after the other. Pure in the sense that matters: touches only the memory it is
// given.
#pragma once
#include "core/layout.hpp"

#include <cstddef>
#include <span>

namespace sluice {

class Blocks {
public:
    /// Appends `bytes` packed bytes that lie at `base`: together, or as the layout's offsets from
    /// `base` say, tile after tile. Neighbours in memory become one.
    void add(std::byte* base, Bytes bytes, std::shared_ptr<Layout const> layout = nullptr);
    void clear() noexcept;

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    /// The memory of these positions where they lie together, else null.
    [[nodiscard]] std::byte* contiguous(Bytes at, Bytes bytes) const noexcept;
    /// Copies from and to packed memory.
    void pack(Bytes at, std::span<std::byte> to) const noexcept;
    void unpack(Bytes at, std::span<std::byte const> from) const noexcept;

private:
    struct Block {
        std::byte* base;
        Bytes begin, bytes;                    ///< Positions in the stream.
        std::shared_ptr<Layout const> layout;  ///< Null: contiguous.
    };
    [[nodiscard]] std::vector<Block>::const_iterator find(Bytes at) const noexcept;
    template <class Visit> void for_each_part(Bytes at, Bytes bytes, Visit&& visit) const;

    std::vector<Block> blocks_;
    Bytes bytes_ = 0;
};

}  // namespace sluice
