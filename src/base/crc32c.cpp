// By the processor's instruction where it has one, else eight bytes at a time by tables. See
// crc32c.hpp.
#include "base/crc32c.hpp"

#include <array>
#include <cstring>

namespace sluice {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // Reflected.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() noexcept {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? polynomial : 0);
        tables[0][byte] = value;
    }
    for (std::size_t i = 1; i < tables.size(); ++i) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint32_t const last = tables[i - 1][byte];
            tables[i][byte] = (last >> 8) ^ tables[0][last & 255];
        }
    }
    return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t add_byte(std::uint32_t crc, std::byte byte) noexcept {
    return (crc >> 8) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 255];
}

/// Eight bytes, of which `word` is the value on a machine that stores the lowest byte first.
std::uint32_t add_word(std::uint32_t crc, std::uint64_t word) noexcept {
    word ^= crc;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum ^= tables[7 - i][(word >> (8 * i)) & 255];
    return sum;
}

std::uint64_t word_at(std::byte const* at) noexcept {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
    return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<std::byte const> bytes,
                                                               std::uint32_t before) noexcept {
    std::uint64_t crc = ~before;
    std::byte const* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        crc = __builtin_ia32_crc32di(crc, word);
    }
    auto tail = static_cast<std::uint32_t>(crc);
    for (; left > 0; ++at, --left)
        tail = __builtin_ia32_crc32qi(tail, std::to_integer<unsigned char>(*at));
    return ~tail;
}
bool has_instruction() noexcept {
    static bool const has = __builtin_cpu_supports("sse4.2");
    return has;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<std::byte const> bytes, std::uint32_t before) noexcept {
    std::uint32_t crc = ~before;
    std::byte const* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) crc = add_word(crc, word_at(at));
    for (; left > 0; ++at, --left) crc = add_byte(crc, *at);
    return ~crc;
}

std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before) noexcept {
#if defined(__x86_64__)
    if (has_instruction()) return by_instruction(bytes, before);
#endif
    return crc32c_by_table(bytes, before);
}

}  // namespace sluice
