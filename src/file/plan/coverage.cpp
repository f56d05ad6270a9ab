// How coverages are marked, searched and put into messages. See coverage.hpp.
#include "file/plan/coverage.hpp"

#include <atomic>
#include <bit>
#include <cstring>

namespace sluice {
namespace {

enum : std::uint8_t { encoded_as_stretches = 1, encoded_as_words = 2 };

/// Collects bits that belong to one word, so that small pieces cost one atomic access a word.
class WordMarker {
public:
    explicit WordMarker(std::span<std::uint64_t> words) noexcept : words_(words.data()) {}
    ~WordMarker() { flush(); }
    WordMarker(WordMarker const&) = delete;
    WordMarker& operator=(WordMarker const&) = delete;

    /// Marks `length` > 0 granules from `begin` on.
    void mark(std::int64_t begin, std::int64_t length) noexcept {
        std::int64_t const word = begin >> 6, bit = begin & 63;
        if (word != word_) move_to(word);
        if (bit + length <= 64) {
            mask_ |= (all >> (64 - length)) << bit;
        } else {
            mask_ |= all << bit;
            mark_on(bit + length - 64);
        }
    }

private:
    static constexpr std::uint64_t all = ~std::uint64_t{0};

    /// The rest of a piece, from the begin of the next word on.
    void mark_on(std::int64_t length) noexcept {
        move_to(word_ + 1);
        // Whole words need no look at what others mark in them.
        for (; length >= 64; length -= 64, ++word_) {
            std::atomic_ref(words_[word_]).store(all, std::memory_order_relaxed);
        }
        if (length > 0) mask_ = all >> (64 - length);
    }

    void move_to(std::int64_t word) noexcept {
        flush();
        word_ = word;
        mask_ = 0;
    }

    void flush() noexcept {
        if (mask_ == 0) return;
        std::atomic_ref(words_[word_]).fetch_or(mask_, std::memory_order_relaxed);
    }

    std::uint64_t* words_;
    std::int64_t word_ = 0;
    std::uint64_t mask_ = 0;
};

}  // namespace

Coverage::Coverage(std::span<std::uint64_t> words, Bytes granule_bytes, Bytes window_bytes) noexcept
    : words_(words),
      shift_(std::countr_zero(static_cast<std::uint64_t>(granule_bytes))),
      granules_((window_bytes + granule_bytes - 1) >> shift_) {}

std::size_t Coverage::words_for(Bytes window_bytes, Bytes granule_bytes) noexcept {
    return static_cast<std::size_t>((window_bytes / granule_bytes + 64) / 64);
}

void Coverage::mark(Pieces const& p) noexcept {
    WordMarker marker(words_);
    int const shift = shift_;
    p.for_each([&](Offset at, Bytes length) { marker.mark(at >> shift, length >> shift); });
}

void Coverage::mark(Coverage const& other) noexcept {
    for (std::size_t w = 0; w < static_cast<std::size_t>((granules_ + 63) / 64); ++w) {
        std::uint64_t const word = other.words_[w];
        if (word == 0) continue;
        std::atomic_ref(words_[w]).fetch_or(word, std::memory_order_relaxed);
    }
}

void Coverage::clear() noexcept {
    std::size_t const used = static_cast<std::size_t>((granules_ + 63) / 64);
    std::memset(words_.data(), 0, used * sizeof(std::uint64_t));
}

std::int64_t Coverage::find(std::int64_t from, bool marked) const noexcept {
    std::uint64_t const flip = marked ? 0 : ~std::uint64_t{0};
    while (from < granules_) {
        std::uint64_t const word = words_[static_cast<std::size_t>(from / 64)] ^ flip;
        std::uint64_t const rest = word & (~std::uint64_t{0} << (from % 64));
        if (rest != 0) return std::min(granules_, from / 64 * 64 + std::countr_zero(rest));
        from = (from / 64 + 1) * 64;
    }
    return granules_;
}

std::optional<Span> Coverage::next(Offset from) const noexcept {
    std::int64_t const begin = find((from + granule_bytes() - 1) >> shift_, true);
    if (begin >= granules_) return std::nullopt;
    return Span{begin << shift_, find(begin, false) << shift_};
}

Bytes Coverage::marked_bytes() const noexcept {
    std::int64_t count = 0;
    auto const whole = static_cast<std::size_t>(granules_ / 64);
    for (std::size_t w = 0; w < whole; ++w) count += std::popcount(words_[w]);
    std::int64_t const rest = granules_ % 64;  // Bits behind the window do not count.
    if (rest > 0) count += std::popcount(words_[whole] << (64 - rest));
    return count << shift_;
}

void Coverage::encode(ByteBuffer& to) const {
    std::size_t const start = to.size();
    std::size_t const word_bytes = static_cast<std::size_t>((granules_ + 63) / 64) * 8;
    to.push_back(std::byte{encoded_as_stretches});
    std::int64_t at = 0;
    for_each([&](Span stretch) {
        std::int64_t const begin = stretch.begin >> shift_, end = stretch.end >> shift_;
        put_number(to, static_cast<std::uint64_t>(end - begin));
        put_number(to, static_cast<std::uint64_t>(begin - at));
        at = end;
        return to.size() - start <= word_bytes;
    });
    put_number(to, 0);
    if (to.size() - start <= word_bytes) return;
    to.resize(start + 1 + word_bytes);
    to[start] = std::byte{encoded_as_words};
    std::memcpy(to.data() + start + 1, words_.data(), word_bytes);
}

std::size_t Coverage::encoded_bytes_max(Bytes window_bytes, Bytes granule_bytes) noexcept {
    return words_for(window_bytes, granule_bytes) * 8 + 32;
}

std::optional<std::size_t> Coverage::decode_and_mark(std::span<std::byte const> from) noexcept {
    if (from.empty()) return std::nullopt;
    std::size_t at = 1;
    if (from[0] == std::byte{encoded_as_words}) {
        std::size_t const count = static_cast<std::size_t>((granules_ + 63) / 64);
        if (from.size() < 1 + count * 8) return std::nullopt;
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, from.data() + 1 + i * 8, 8);
            std::atomic_ref(words_[i]).fetch_or(word, std::memory_order_relaxed);
        }
        return 1 + count * 8;
    }
    std::int64_t begin = 0;
    WordMarker marker(words_);
    for (;;) {
        std::uint64_t length = 0, gap = 0;
        if (!get_number(from, at, length)) return std::nullopt;
        if (length == 0) return at;
        if (!get_number(from, at, gap)) return std::nullopt;
        auto const room = static_cast<std::uint64_t>(granules_ - begin);
        if (gap > room || length > room - gap) return std::nullopt;
        begin += static_cast<std::int64_t>(gap);
        marker.mark(begin, static_cast<std::int64_t>(length));
        begin += static_cast<std::int64_t>(length);
    }
}

}  // namespace sluice
