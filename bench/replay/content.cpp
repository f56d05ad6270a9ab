// Generation and checking of bytes. See content.hpp.
#include "bench/replay/content.hpp"

#include <cstring>

namespace sluice::replay {
namespace {

constexpr Bytes word_bytes = 8;

/// Eight bytes of the file, none of them zero.
std::uint64_t word_at(std::uint64_t seed, std::uint64_t number) noexcept {
    std::uint64_t mixed = (number + seed) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 29U;
    mixed *= 0xbf58476d1ce4e5b9U;
    return (mixed ^ (mixed >> 32U)) | 0x0101010101010101U;
}

std::byte byte_at(std::uint64_t seed, Offset offset) noexcept {
    auto const at = static_cast<std::uint64_t>(offset);
    return static_cast<std::byte>(word_at(seed, at / word_bytes) >> (at % word_bytes * 8));
}

/// Calls `of_byte(offset, i)` and `of_word(number, i)`, words as far as they are whole.
template <class OfByte, class OfWord>
void walk(Offset offset, Bytes bytes, OfByte&& of_byte, OfWord&& of_word) {
    Bytes i = 0;
    for (; i < bytes && (offset + i) % word_bytes != 0; ++i) of_byte(offset + i, i);
    for (; i + word_bytes <= bytes; i += word_bytes)
        of_word(static_cast<std::uint64_t>((offset + i) / word_bytes), i);
    for (; i < bytes; ++i) of_byte(offset + i, i);
}

}  // namespace

void fill(std::uint64_t seed, Offset offset, std::byte* to, Bytes bytes) noexcept {
    walk(
        offset, bytes, [&](Offset at, Bytes i) { to[i] = byte_at(seed, at); },
        [&](std::uint64_t number, Bytes i) {
            std::uint64_t const word = word_at(seed, number);
            std::memcpy(to + i, &word, sizeof word);
        });
}

Bytes wrong_bytes(std::uint64_t seed, Offset offset, std::byte const* of, Bytes bytes,
                  bool zero_is_right) noexcept {
    Bytes wrong = 0;
    auto const look = [&](Offset at, Bytes i) {
        bool const right = of[i] == byte_at(seed, at) || (zero_is_right && of[i] == std::byte{});
        wrong += right ? 0 : 1;
    };
    walk(offset, bytes, look, [&](std::uint64_t number, Bytes i) {
        std::uint64_t word = 0;
        std::memcpy(&word, of + i, sizeof word);
        if (word == word_at(seed, number)) return;
        for (Bytes k = 0; k < word_bytes; ++k)
            look(static_cast<Offset>(number) * word_bytes + k, i + k);
    });
    return wrong;
}

void fill(std::uint64_t seed, Transfer const& transfer, std::byte* origin) {
    for_each_piece(transfer, [&](Offset memory, Offset file, Bytes bytes) {
        fill(seed, file, origin + memory, bytes);
    });
}

Bytes wrong_bytes(std::uint64_t seed, Transfer const& transfer, std::byte const* origin) {
    Bytes wrong = 0;
    for_each_piece(transfer, [&](Offset memory, Offset file, Bytes bytes) {
        wrong += wrong_bytes(seed, file, origin + memory, bytes, true);
    });
    return wrong;
}

}  // namespace sluice::replay
