// Overlap tells whether operations touch a common byte of the file. Each rank marks the blocks of a
// stretch of the file that its own requests touch, and the marks of all ranks are or-ed: a common
// byte is always found, and one that is not there may be suspected where two requests share a
// block. Pure. Operations that are ordered (Call::ordered) need it: see
// file/run/conflicts.hpp.
#pragma once
#include "base/request.hpp"

#include <array>

namespace sluice {

/// First to last byte that the request may touch, also of views whose bytes cannot be found by
/// offset. Empty when it touches nothing. A read `beyond_end` of the file depends on all that may
/// come to lie behind its begin.
[[nodiscard]] Span reach_of(Request const& request, bool beyond_end = false) noexcept;

/// One bit for each of up to 2,048 equal blocks of a stretch of the file.
class BlockMarks {
public:
    static constexpr std::size_t word_count = 32;
    static constexpr Bytes block_count = word_count * 64;

    /// Marks the blocks that the request touches. At most 2 searches in the view for each block.
    void mark(Request const& request, Span stretch) noexcept;
    void mark_all() noexcept { words_.fill(~std::uint64_t{0}); }

    BlockMarks& operator|=(BlockMarks const& other) noexcept;
    [[nodiscard]] bool meets(BlockMarks const& other) const noexcept;
    bool operator==(BlockMarks const&) const = default;

private:
    void mark_range(Bytes first, Bytes last) noexcept;

    std::array<std::uint64_t, word_count> words_{};
};

/// What the ranks touch in one operation, and in those before it. Trivially copyable: it travels
/// as bytes.
struct Overlap {
    BlockMarks current, earlier;

    Overlap& operator|=(Overlap const& other) noexcept;
    [[nodiscard]] bool found() const noexcept { return current.meets(earlier); }
    /// A message did not come: then nothing is known, and all may be touched.
    void lose() noexcept;
};

}  // namespace sluice
