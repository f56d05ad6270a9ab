// Moves bytes between two scattered layouts in one pass: the inner loop of every exchange.
// Pure in the sense that matters: touches only the memory it is given.
#pragma once
#include "base/layout.hpp"

#include <cstddef>
#include <cstring>

namespace sluice {

/// Copies `bytes` bytes from what lies ahead of `source` to what lies ahead of `target`; their
/// offsets are counted from `from` and `to`. Nothing is divided, called or allocated for each
/// piece where one side has pieces longer than the other's, or both have equal ones.
void copy(Cursor target, std::byte* to, Cursor source, std::byte const* from, Bytes bytes) noexcept;

template <std::size_t bytes> void copy_fixed(std::byte* to, std::byte const* from) noexcept {
    std::memcpy(to, from, bytes);
}

/// Both ends of a piece of `half` to 2 * `half` bytes; the middle is copied twice.
template <std::size_t half>
void copy_ends(std::byte* to, std::byte const* from, std::size_t length) noexcept {
    copy_fixed<half>(to, from);
    copy_fixed<half>(to + length - half, from + length - half);
}

/// Without a call where that costs as much as the copy. Longer pieces are the C library's: its
/// vectors are as wide as the processor's, and what a wrongly predicted length costs is the same.
inline void copy_piece(std::byte* to, std::byte const* from, std::size_t length) noexcept {
    if (length > 32) {
        std::memcpy(to, from, length);
    } else if (length >= 16) {
        copy_ends<16>(to, from, length);
    } else if (length >= 8) {
        copy_ends<8>(to, from, length);
    } else if (length >= 4) {
        copy_ends<4>(to, from, length);
    } else {
        for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
    }
}

}  // namespace sluice
