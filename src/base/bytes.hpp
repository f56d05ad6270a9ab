// Bytes of messages: a buffer that grows without being cleared, and numbers of variable length,
// seven bits a byte, the low ones first. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// Leaves new elements as they are: what is received or packed next overwrites them.
template <typename T> struct Uncleared : std::allocator<T> {
    template <typename Other> struct rebind {
        using other = Uncleared<Other>;
    };
    template <typename Other> void construct(Other* place) noexcept { ::new (place) Other; }
    template <typename Other, typename... From> void construct(Other* place, From&&... from) {
        ::new (place) Other(std::forward<From>(from)...);
    }
};

using ByteBuffer = std::vector<std::byte, Uncleared<std::byte>>;

void put_number(ByteBuffer& to, std::uint64_t value);

/// Reads at `at` and moves it on; false where `from` ends too early.
bool get_number(std::span<std::byte const> from, std::size_t& at, std::uint64_t& value) noexcept;

}  // namespace sluice
