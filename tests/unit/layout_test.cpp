// Property tests of extents, layouts, cursors and copies against lists of single bytes.
#include "base/copy.hpp"
#include "base/request.hpp"
#include "copy_by_rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace sluice::layout_test {
namespace {

/// Offsets of the bytes that runs select, one by one.
std::vector<Offset> bytes_of(std::vector<Run> const& runs) {
    std::vector<Offset> all;
    for (Run const& run : runs) {
        for (std::int64_t i = 0; i < run.count; ++i) {
            for (Bytes b = 0; b < run.length; ++b) all.push_back(run.offset + i * run.stride + b);
        }
    }
    return all;
}

/// The runs that extents keep, lists piece by piece.
std::vector<Run> runs_of(Sections const& sections) {
    std::vector<Run> all;
    sections.for_each_run([&](Run const& run) { all.push_back(run); });
    return all;
}

/// Ascending runs that do not overlap, as a file view has them, and their tile's extent.
struct Tile {
    std::vector<Run> runs;
    Offset extent;
};

Tile draw_tile() {
    std::vector<Run> runs;
    Offset at = *rc::gen::inRange<Offset>(0, 20);
    int const pieces = *rc::gen::inRange(1, 8);
    for (int i = 0; i < pieces; ++i) {
        Bytes const length = *rc::gen::inRange<Bytes>(1, 9);
        auto const count = *rc::gen::inRange<std::int64_t>(1, 5);
        Offset const stride = length + *rc::gen::inRange<Offset>(0, 6);
        runs.push_back({at, length, stride, count});
        at += (count - 1) * stride + length + *rc::gen::inRange<Offset>(0, 10);
    }
    Offset const span = at - runs.front().offset;
    return {runs, span + *rc::gen::inRange<Offset>(0, 30)};
}

/// Offsets of the first `count` positions.
std::vector<Offset> offsets_of(Tile const& tile, std::size_t count) {
    auto const once = bytes_of(tile.runs);
    std::vector<Offset> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(once[i % once.size()] + static_cast<Offset>(i / once.size()) * tile.extent);
    }
    return all;
}

RC_GTEST_PROP(Extents, MergingKeepsEveryByteInOrder, ()) {
    auto const count = *rc::gen::inRange(0, 40);
    Extents extents;
    std::vector<Offset> expected;
    for (int i = 0; i < count; ++i) {
        Run const run{*rc::gen::inRange<Offset>(-50, 50), *rc::gen::inRange<Bytes>(0, 5),
                      *rc::gen::inRange<Offset>(-8, 9), *rc::gen::inRange<std::int64_t>(0, 4)};
        extents.add(run);
        auto const bytes = bytes_of({run});
        expected.insert(expected.end(), bytes.begin(), bytes.end());
    }
    RC_ASSERT(bytes_of(runs_of(std::move(extents).take())) == expected);
}

TEST(Extents, RegularPatternsBecomeOneRun) {
    Extents extents;
    for (Offset i = 0; i < 1000; ++i) extents.add({i * 64, 8, 0, 1});
    EXPECT_EQ(runs_of(std::move(extents).take()), (std::vector<sluice::Run>{{0, 8, 64, 1000}}));
}

TEST(Extents, TouchingPiecesMerge) {
    Extents extents;
    for (Offset i = 0; i < 1000; ++i) extents.add({i * 8, 8, 0, 1});
    EXPECT_EQ(runs_of(std::move(extents).take()), (std::vector<sluice::Run>{{0, 8000, 0, 1}}));
}

RC_GTEST_PROP(Layout, OffsetsOfPositions, ()) {
    Tile const tile = draw_tile();
    Layout const layout(tile.runs, tile.extent);
    auto const offsets = offsets_of(tile, 300);
    auto const position = *rc::gen::inRange<std::size_t>(0, 300);
    RC_ASSERT(layout.offset_at(static_cast<Bytes>(position)) == offsets[position]);
}

RC_GTEST_PROP(Layout, PositionsOfOffsets, ()) {
    Tile const tile = draw_tile();
    Layout const layout(tile.runs, tile.extent);
    RC_ASSERT(layout.is_ascending());
    auto const offsets = offsets_of(tile, 300);
    Offset const wanted = *rc::gen::inRange<Offset>(0, offsets.back());
    auto const expected = std::lower_bound(offsets.begin(), offsets.end(), wanted);
    RC_ASSERT(layout.position_at_or_after(wanted) == expected - offsets.begin());
}

RC_GTEST_PROP(Cursor, WalksInAnySteps, ()) {
    Tile const tile = draw_tile();
    Layout const layout(tile.runs, tile.extent);
    auto const offsets = offsets_of(tile, 300);
    Bytes at = *rc::gen::inRange<Bytes>(0, 50);
    Cursor cursor(layout, at);
    while (at < 200) {
        Run const ahead = cursor.ahead();
        auto const step = *rc::gen::inRange<Bytes>(1, 1 + std::min<Bytes>(40, ahead.bytes()));
        for (Bytes i = 0; i < step; ++i) {
            Offset const offset = ahead.offset + i / ahead.length * ahead.stride + i % ahead.length;
            RC_ASSERT(offset == offsets[static_cast<std::size_t>(at + i)]);
        }
        auto const in_piece = std::min<Bytes>(step, cursor.piece_left());
        cursor.advance_in_piece(in_piece);
        at += in_piece;
    }
}

RC_GTEST_PROP(Copy, MovesEveryByteOnce, ()) {
    Tile const a = draw_tile(), b = draw_tile();
    Layout const la(a.runs, a.extent), lb(b.runs, b.extent);
    auto const from_a = *rc::gen::inRange<Bytes>(0, 60), from_b = *rc::gen::inRange<Bytes>(0, 60);
    auto const bytes = *rc::gen::inRange<Bytes>(0, 200);
    auto const oa = offsets_of(a, 300), ob = offsets_of(b, 300);
    std::vector<std::byte> source(20'000), target(20'000), expected(20'000);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251 + 1);
    for (Bytes i = 0; i < bytes; ++i) {
        expected[static_cast<std::size_t>(oa[static_cast<std::size_t>(from_a + i)])] =
            source[static_cast<std::size_t>(ob[static_cast<std::size_t>(from_b + i)])];
    }
    copy({la, from_a}, target.data(), {lb, from_b}, source.data(), bytes);
    RC_ASSERT(target == expected);
    std::ranges::fill(target, std::byte{0});
    testing::copy_by_rows({la, from_a}, target.data(), {lb, from_b}, source.data(), bytes);
    RC_ASSERT(target == expected);
}

RC_GTEST_PROP(Request, WindowsCutItExactly, ()) {
    Tile const tile = draw_tile();
    Request r;
    r.view.filetype = std::make_shared<Layout const>(tile.runs, tile.extent);
    r.view.displacement = *rc::gen::inRange<Offset>(0, 100);
    r.position = *rc::gen::inRange<Bytes>(0, 60);
    r.bytes = *rc::gen::inRange<Bytes>(1, 200);
    auto const offsets = offsets_of(tile, 300);
    Offset const cut = *rc::gen::inRange<Offset>(0, 1500);
    Bytes before = 0;
    for (Bytes i = 0; i < r.bytes; ++i) {
        before += r.view.displacement + offsets[static_cast<std::size_t>(r.position + i)] < cut;
    }
    RC_ASSERT(positions_in(r, {0, cut}) == (Span{0, before}) ||
              (before == 0 && positions_in(r, {0, cut}).empty()));
    RC_ASSERT(positions_in(r, {0, cut}).bytes() + positions_in(r, {cut, 1 << 20}).bytes() ==
              r.bytes);
    Span const span = span_of(r);
    RC_ASSERT(positions_in(r, span).bytes() == r.bytes);
}

/// A request that begins in tile `tile` of a drawn layout, and ends in it.
Request draw_request_in_tile(Tile const& tile, std::int64_t number) {
    Request r;
    r.view.filetype = std::make_shared<Layout const>(tile.runs, tile.extent);
    Bytes const bytes = r.view.filetype->tile_bytes();
    Bytes const begin = *rc::gen::inRange<Bytes>(0, bytes);
    r.view.displacement = *rc::gen::inRange<Offset>(0, 100);
    r.position = number * bytes + begin;
    r.bytes = *rc::gen::inRange<Bytes>(1, bytes - begin + 1);
    return r;
}

RC_GTEST_PROP(Request, TilesThatOverlapAreSeparatedForRequestsOfOne, ()) {
    Tile tile = draw_tile();
    tile.extent = *rc::gen::inRange<Offset>(0, tile.extent + 1);
    Request const before = draw_request_in_tile(tile, *rc::gen::inRange<std::int64_t>(0, 4));
    Request after = before;
    separate_tiles(after);
    RC_ASSERT(after.view.filetype->is_ascending());
    RC_ASSERT(after.bytes == before.bytes);
    for (Bytes i = 0; i < before.bytes; ++i)
        RC_ASSERT(offset_in_file(after, i) == offset_in_file(before, i));
    RC_ASSERT(distance_between(before, after) == Offset{0});
    RC_CLASSIFY(!before.view.filetype->is_ascending(), "overlapping tiles");
}

TEST(Request, TilesOfARequestOfSeveralStay) {
    Request r;
    r.view.filetype = std::make_shared<Layout const>(std::vector<sluice::Run>{{0, 8, 16, 2}}, 8);
    r.bytes = 20;
    auto const before = r.view.filetype;
    separate_tiles(r);
    EXPECT_EQ(r.view.filetype, before);
}

RC_GTEST_PROP(Request, DistancesAreThoseOfAllBytes, ()) {
    auto const draw = [](Tile const& tile) {
        Request r;
        r.view.filetype = std::make_shared<Layout const>(tile.runs, tile.extent);
        r.view.displacement = *rc::gen::inRange<Offset>(0, 3);
        r.position = *rc::gen::inRange<Bytes>(0, 40);
        return r;
    };
    Tile const tile = draw_tile();
    bool const alike = *rc::gen::arbitrary<bool>();
    Request a = draw(tile), b = draw(alike ? tile : draw_tile());
    if (alike && *rc::gen::arbitrary<bool>()) b.position = a.position;
    a.bytes = b.bytes = *rc::gen::inRange<Bytes>(1, 30);
    Offset const first = offset_in_file(b, 0) - offset_in_file(a, 0);
    bool all = true;
    for (Bytes i = 0; i < a.bytes; ++i) all &= offset_in_file(b, i) - offset_in_file(a, i) == first;
    RC_ASSERT(distance_between(a, b) == (all ? std::optional(first) : std::nullopt));
    RC_CLASSIFY(all, "one distance");
}

}  // namespace
}  // namespace sluice::layout_test
