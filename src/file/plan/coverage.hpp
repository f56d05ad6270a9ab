// A Coverage says which bytes of a window some rank asked for: it has one bit for each granule.
// Bits take the place of lists of pieces, because their memory is bounded whatever the pattern,
// they are joined by `or`, overlapping pieces do no harm, and no hole is lost. Several ranks of a
// node mark one coverage at the same time. In a message the coverage goes ahead of the bytes that
// it describes.
#pragma once
#include "base/bytes.hpp"
#include "base/extent.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// Bit i of word w stands for granule 64 w + i of the window.
class Coverage {
public:
    /// `words` hold at least granule_count bits; `granule_bytes` is a power of two.
    Coverage(std::span<std::uint64_t> words, Bytes granule_bytes, Bytes window_bytes) noexcept;

    static std::size_t words_for(Bytes window_bytes, Bytes granule_bytes) noexcept;

    /// Marks pieces, offsets counted from the window's begin, all multiples of the granule. Safe
    /// against other threads and processes that mark at the same time.
    void mark(Pieces const& pieces) noexcept;
    void mark(Run const& run) noexcept {
        mark(Pieces{run.offset, run.length, run.stride, run.count, run.bytes()});
    }

    /// Marks what is marked in `other`, a coverage of the same shape; safe like the others.
    void mark(Coverage const& other) noexcept;

    void clear() noexcept;

    /// The first stretch of marked bytes at or behind `from`, offsets counted from the window.
    [[nodiscard]] std::optional<Span> next(Offset from) const noexcept;
    /// Calls `each` with all of them, in order, until it returns false; returns whether it never
    /// did. For short ones it is faster than next().
    template <typename Each> bool for_each(Each&& each) const;
    [[nodiscard]] bool any() const noexcept { return next(0).has_value(); }
    [[nodiscard]] Bytes marked_bytes() const noexcept;

    [[nodiscard]] Bytes granule_bytes() const noexcept { return Bytes{1} << shift_; }
    [[nodiscard]] Bytes window_bytes() const noexcept { return granules_ << shift_; }

    /// Stretches as variable-length numbers, or the words themselves where that is shorter. Never
    /// longer than encoded_bytes_max().
    void encode(ByteBuffer& to) const;
    static std::size_t encoded_bytes_max(Bytes window_bytes, Bytes granule_bytes) noexcept;

    /// Marks what was encoded; returns the bytes read, or nothing where `from` is damaged.
    std::optional<std::size_t> decode_and_mark(std::span<std::byte const> from) noexcept;

private:
    [[nodiscard]] std::int64_t find(std::int64_t from, bool marked) const noexcept;

    /// Without bits behind the window.
    [[nodiscard]] std::uint64_t word(std::int64_t index) const noexcept {
        std::int64_t const behind = (index + 1) * 64 - granules_;
        return words_[static_cast<std::size_t>(index)] &
               (~std::uint64_t{0} >> std::max<std::int64_t>(behind, 0));
    }

    std::span<std::uint64_t> words_;
    int shift_;
    std::int64_t granules_;
};

template <typename Each> bool Coverage::for_each(Each&& each) const {
    std::uint64_t constexpr all = ~std::uint64_t{0};
    std::int64_t begin = -1;  // Of a stretch that goes on behind the words so far.
    auto const end_at = [&](std::int64_t end) {
        return each(Span{std::exchange(begin, -1) << shift_, end << shift_});
    };
    for (std::int64_t w = 0; w * 64 < granules_; ++w) {
        std::uint64_t bits = word(w);
        if (begin >= 0) {
            if (bits == all) continue;
            int const ones = std::countr_one(bits);
            if (!end_at(w * 64 + ones)) return false;
            bits &= all << ones;
        }
        while (bits != 0) {
            int const first = std::countr_zero(bits);
            int const end = first + std::countr_one(bits >> first);
            begin = w * 64 + first;
            if (end == 64) break;
            if (!end_at(w * 64 + end)) return false;
            bits &= all << end;
        }
    }
    return begin < 0 || end_at(granules_);
}

}  // namespace sluice
