// Decomposition files with numbers that nobody meant.
#include "bench/patterns/decomposition.hpp"

#include <gtest/gtest.h>

namespace sluice::decomposition_test {
namespace {

using patterns::Decomposition;

std::string error_of(std::string const& text) { return Decomposition(text).variable(1).error; }

TEST(Decompositions, HaveTheirRanksInOrder) {
    Decomposition const decomposition("1 2 1 3\n1 0 0 1\n1 0 6 1\n1 2 4 2\n");
    auto const& variable = decomposition.variable(1);
    ASSERT_EQ(variable.error, "");
    EXPECT_EQ(variable.bytes, 7 * patterns::word_bytes);
    ASSERT_EQ(variable.parts.size(), 3U);
    EXPECT_EQ(variable.parts[0].bytes(), 2 * patterns::word_bytes);
    EXPECT_EQ(variable.parts[0].piece_count(), 2);
    EXPECT_EQ(variable.parts[1].bytes(), 0);
    EXPECT_EQ(variable.parts[2].bytes(), 5 * patterns::word_bytes);
    EXPECT_EQ(variable.parts[2].piece_count(), 1);
}

TEST(Decompositions, OverflowNothing) {
    std::string const damaged = error_of("1 0 0 one\n");
    EXPECT_EQ(error_of("1 0 0 9223372036854775807\n"), damaged);
    EXPECT_EQ(error_of("1 0 0 9223372036854775807\n1 0 9223372036854775807 5\n"), damaged);
    EXPECT_EQ(error_of("1 0 0 1\n1 0 9223372036854775807 1\n"), damaged);
    EXPECT_EQ(error_of("1 0 0 1\n4294967297 0 0 1\n"), damaged);
}

TEST(Decompositions, HaveNoMoreRanksThanFitIntoMemory) {
    EXPECT_EQ(error_of("1 99999 0 1\n"), "");
    std::string many;
    for (int number = 1; number < 20; ++number) many += std::to_string(number) + " 99999 0 1\n";
    EXPECT_EQ(error_of(many), error_of("1 0 0 one\n"));
}

}  // namespace
}  // namespace sluice::decomposition_test
