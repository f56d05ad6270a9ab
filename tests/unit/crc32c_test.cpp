// The checksum is the one that others compute, by the processor's instruction and by tables.
#include "base/crc32c.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

namespace sluice {
namespace {

std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The check value of the catalogue of parametrised CRC algorithms, and 32 zeros of RFC 3720.
TEST(Crc32c, IsTheKnownOne) {
    EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
    EXPECT_EQ(crc32c_by_table(bytes_of("123456789")), 0xE3069283U);
    std::string const zeros(32, '\0');
    EXPECT_EQ(crc32c(bytes_of(zeros)), 0x8A9136AAU);
    EXPECT_EQ(crc32c({}), 0U);
}

RC_GTEST_PROP(Crc32c, InPartsAndByTableItIsTheSame, (std::string text)) {
    auto const all = bytes_of(text);
    auto const half = *rc::gen::inRange<std::size_t>(0, all.size() + 1);
    RC_ASSERT(crc32c(all) == crc32c_by_table(all));
    RC_ASSERT(crc32c(all.subspan(half), crc32c(all.first(half))) == crc32c(all));
}

}  // namespace
}  // namespace sluice
