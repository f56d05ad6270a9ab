// Property test of the account of free memory, against a list of bytes.
#include "base/free_ranges.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::free_ranges_test {
namespace {

struct Taken {
    Offset begin;
    Bytes bytes;
};

RC_GTEST_PROP(FreeRanges, NothingIsGivenTwiceAndTheLowestRoomIsTaken, ()) {
    constexpr Bytes all = 64;
    FreeRanges ranges(all);
    std::vector<bool> used(all, false);
    std::vector<Taken> taken;
    auto const is_free = [&](Offset begin, Bytes bytes) {
        for (Offset at = begin; at < begin + bytes; ++at)
            if (at >= all || used[static_cast<std::size_t>(at)]) return false;
        return true;
    };
    auto const set = [&](Taken const& part, bool value) {
        for (Offset at = part.begin; at < part.begin + part.bytes; ++at)
            used[static_cast<std::size_t>(at)] = value;
    };
    int const steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
        if (!taken.empty() && *rc::gen::arbitrary<bool>()) {
            auto const which = *rc::gen::inRange<std::size_t>(0, taken.size());
            ranges.give(taken[which].begin, taken[which].bytes);
            set(taken[which], false);
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
            continue;
        }
        Bytes const bytes = *rc::gen::inRange<Bytes>(1, 20);
        Offset expected = 0;
        while (expected < all && !is_free(expected, bytes)) ++expected;
        auto const begin = ranges.take(bytes);
        RC_ASSERT(begin.has_value() == (expected < all));
        if (!begin) continue;
        RC_ASSERT(*begin == expected);
        taken.push_back({*begin, bytes});
        set(taken.back(), true);
    }
    RC_ASSERT(ranges.all_free() == taken.empty());
}

TEST(FreeRanges, NothingTakesNothing) {
    FreeRanges none(0);
    EXPECT_EQ(none.take(0), 0);
    EXPECT_EQ(none.take(1), std::nullopt);
    EXPECT_TRUE(none.all_free());
}

}  // namespace
}  // namespace sluice::free_ranges_test
