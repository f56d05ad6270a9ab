// Which calls are complete, beside a set of numbers.
#include "behind/completed_calls.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace sluice::completed_calls_test {
namespace {

/// As zeros, like that of a new journal.
struct Page {
    alignas(64) std::byte bytes[CompletedCalls::bytes] = {};
    CompletedCalls calls{bytes};
};

/// Calls complete in any order, but for those that have to wait until an earlier one is.
RC_GTEST_PROP(CompletedCalls, KnowsTheseAndNoOther, ()) {
    auto const window = *rc::gen::inRange<std::int64_t>(1, CompletedCalls::most_ahead + 1);
    auto const picks =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::arbitrary<std::size_t>());
    Page page;
    auto const place = page.calls.begin(3);
    RC_ASSERT(place.has_value());
    std::set<std::int64_t> done;
    std::int64_t first = 1;
    for (std::size_t const pick : picks) {
        std::vector<std::int64_t> open;
        for (std::int64_t call = first; call < first + window; ++call)
            if (!done.contains(call)) open.push_back(call);
        std::int64_t const call = open[pick % open.size()];
        page.calls.note(*place, call);
        done.insert(call);
        while (done.contains(first)) ++first;
        for (std::int64_t one = 1; one < first + 2 * window; ++one)
            RC_ASSERT(page.calls.has({3, one}) == done.contains(one));
    }
}

/// An operation that failed is never noted; those behind it must not be forgotten for it.
TEST(CompletedCalls, OneThatFailedDoesNotStopThoseBehindIt) {
    Page page;
    auto const place = page.calls.begin(0);
    for (std::int64_t call = 2; call <= 10 * CompletedCalls::most_ahead; ++call) {
        page.calls.note(*place, call);
        EXPECT_TRUE(page.calls.has({0, call})) << call;
        EXPECT_FALSE(page.calls.has({0, call + 1})) << call;
        EXPECT_EQ(page.calls.has({0, 1}), call > CompletedCalls::most_ahead) << call;
    }
}

TEST(CompletedCalls, HandlesAreToldApartAndPlacesAreUsedAgain) {
    Page page;
    std::vector<std::size_t> places;
    while (auto const place = page.calls.begin(places.size())) places.push_back(*place);
    ASSERT_GT(places.size(), 100U);
    page.calls.note(places[5], 1);
    EXPECT_TRUE(page.calls.has({5, 1}));
    EXPECT_FALSE(page.calls.has({6, 1}));
    EXPECT_FALSE(page.calls.has({places.size(), 1}));
    EXPECT_FALSE(page.calls.has({5, 0})) << "no collective call";
    page.calls.end(places[5]);
    EXPECT_FALSE(page.calls.has({5, 1}));
    EXPECT_EQ(page.calls.begin(1000), places[5]);
    EXPECT_FALSE(page.calls.has({1000, 1})) << "of the handle that was there before";
}

}  // namespace
}  // namespace sluice::completed_calls_test
