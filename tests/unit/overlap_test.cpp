// Property tests of the marks by which operations find out whether they touch a common byte.
#include "request_places.hpp"

#include "file/plan/overlap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace sluice::overlap_test {
namespace {

Request drawn_request() {
    Extents extents;
    Offset at = *rc::gen::inRange<Offset>(0, 50);
    int const count = *rc::gen::inRange(1, 8);
    for (int i = 0; i < count; ++i) {
        Bytes const length = *rc::gen::inRange<Bytes>(1, 40);
        extents.add({at, length, 0, 1});
        at += length + *rc::gen::inRange<Offset>(0, 60);
    }
    Request r;
    r.view.displacement = *rc::gen::inRange<Offset>(0, 3000);
    r.view.filetype = std::make_shared<Layout const>(std::move(extents).take(), at + 5);
    r.position = *rc::gen::inRange<Bytes>(0, 100);
    r.bytes = *rc::gen::inRange<Bytes>(0, 2000);
    return r;
}

std::set<Offset> bytes_of(Request const& r) {
    auto const places = places_of(r);
    return {places.begin(), places.end()};
}

bool have_common(std::set<Offset> const& a, std::set<Offset> const& b) {
    return std::any_of(a.begin(), a.end(), [&](Offset at) { return b.contains(at); });
}

/// As ranks find it: over the bytes that both spans have.
bool suspected(Request const& a, Request const& b, Span stretch) {
    Overlap overlap;
    overlap.current.mark(a, stretch);
    overlap.earlier.mark(b, stretch);
    return overlap.found();
}

RC_GTEST_PROP(Overlap, NoCommonByteIsMissed, ()) {
    Request const a = drawn_request(), b = drawn_request();
    Span const stretch = clip(reach_of(a), reach_of(b));
    if (have_common(bytes_of(a), bytes_of(b))) RC_ASSERT(suspected(a, b, stretch));
}

/// Up to 2,047 bytes have a block each.
RC_GTEST_PROP(Overlap, ShortStretchesAreExact, ()) {
    Request const a = drawn_request(), b = drawn_request();
    Span const both = clip(reach_of(a), reach_of(b));
    Span const stretch = clip(both, {both.begin, both.begin + BlockMarks::block_count - 1});
    auto within = [&](Request const& r) {
        auto all = bytes_of(r);
        std::erase_if(all, [&](Offset at) { return at < stretch.begin || at >= stretch.end; });
        return all;
    };
    RC_ASSERT(suspected(a, b, stretch) == have_common(within(a), within(b)));
}

RC_GTEST_PROP(Overlap, MarksOfRanksAdd, ()) {
    Request const a = drawn_request(), b = drawn_request(), c = drawn_request();
    Span const stretch{0, 8000};
    Overlap one, other;
    one.current.mark(a, stretch);
    other.current.mark(b, stretch);
    other.earlier.mark(c, stretch);
    one |= other;
    RC_ASSERT(one.found() == (suspected(a, c, stretch) || suspected(b, c, stretch)));
}

TEST(Overlap, WhatIsNotKnownIsSuspected) {
    Overlap overlap;
    EXPECT_FALSE(overlap.found());
    overlap.lose();
    EXPECT_TRUE(overlap.found());
}

TEST(Overlap, ViewsWithoutOrderMayTouchTheirTiles) {
    Request r;
    r.view.filetype = std::make_shared<Layout const>(
        std::vector<sluice::Run>{{100, 10, 0, 1}, {0, 10, 0, 1}}, 200);
    r.bytes = 20;
    EXPECT_EQ(reach_of(r), (Span{0, 110}));
    r.bytes = 10;
    EXPECT_EQ(reach_of(r), (Span{100, 110}));
    r.bytes = 20;
    r.position = 210;
    r.view.displacement = 5;
    EXPECT_EQ(reach_of(r), (Span{2005, 2315}));
    EXPECT_EQ(reach_of(nothing(Direction::write)), Span{});
}

}  // namespace
}  // namespace sluice::overlap_test
