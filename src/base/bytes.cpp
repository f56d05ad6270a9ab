// How numbers of variable length are written and read. See bytes.hpp.
#include "base/bytes.hpp"

namespace sluice {

void put_number(ByteBuffer& to, std::uint64_t value) {
    while (value >= 0x80) {
        to.push_back(static_cast<std::byte>(value | 0x80));
        value >>= 7;
    }
    to.push_back(static_cast<std::byte>(value));
}

bool get_number(std::span<std::byte const> from, std::size_t& at, std::uint64_t& value) noexcept {
    value = 0;
    for (int shift = 0; shift < 63 && at < from.size(); shift += 7) {
        auto const byte = static_cast<std::uint64_t>(from[at++]);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

}  // namespace sluice
