// Property tests of lists, sections and layouts of pieces without an order: any offsets, lengths
// and repetitions, against the plain list of pieces.
#include "base/copy.hpp"
#include "base/request.hpp"
#include "copy_by_rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace sluice::sections_test {
namespace {

/// The oracle: stretches of bytes in transfer order, as long as they can be.
using Stretches = std::vector<Span>;

void append(Stretches& to, Span piece) {
    if (piece.empty()) return;
    if (!to.empty() && to.back().end == piece.begin) {
        to.back().end = piece.end;
    } else {
        to.push_back(piece);
    }
}

void append(Stretches& to, Run const& run, Offset shift = 0) {
    for (std::int64_t i = 0; i < run.count; ++i) {
        Offset const begin = shift + run.offset + i * run.stride;
        append(to, Span{begin, begin + run.length});
    }
}

Stretches stretches_of(std::vector<Run> const& runs) {
    Stretches all;
    for (Run const& run : runs) append(all, run);
    return all;
}

Stretches stretches_of(Sections const& sections) {
    Stretches all;
    sections.for_each_run([&](Run const& run) { append(all, run); });
    return all;
}

/// The stretches of positions [begin, end) of `count` tiles.
Stretches cut(std::vector<Run> const& tile, Offset extent, Bytes begin, Bytes end) {
    Stretches all;
    Bytes at = 0;
    for (std::int64_t t = 0; at < end; ++t) {
        for (Run const& run : tile) {
            for (std::int64_t i = 0; i < run.count; ++i, at += run.length) {
                Offset const offset = run.offset + i * run.stride + t * extent;
                Span const part = clip({begin - at, end - at}, {0, run.length});
                if (!part.empty()) append(all, Span{offset + part.begin, offset + part.end});
            }
        }
    }
    return all;
}

Bytes bytes_of(std::vector<Run> const& runs) {
    return std::accumulate(runs.begin(), runs.end(), Bytes{0},
                           [](Bytes sum, Run const& run) { return sum + run.bytes(); });
}

Bytes draw_length() {
    switch (*rc::gen::inRange(0, 12)) {
    case 0:
        return *rc::gen::inRange<Bytes>(65'000, 70'000);
    case 1:
        return 0;
    case 2:
    case 3:
        return *rc::gen::inRange<Bytes>(1, 300);
    default:
        return 8;
    }
}

Offset draw_jump() {
    switch (*rc::gen::inRange(0, 20)) {
    case 0:
        return Offset{1} << *rc::gen::inRange(30, 45);
    case 1:
        return (Offset{1} << 31) + *rc::gen::inRange<Offset>(-3, 4);
    default:
        return *rc::gen::inRange<Offset>(0, 200);
    }
}

/// Pieces as a program could list them in memory: anywhere, in any order; in half of all cases as a
/// file view has them, ascending.
std::vector<Run> draw_runs(bool ascending, int most = 700) {
    std::vector<Run> runs;
    int const count = *rc::gen::inRange(1, most);
    bool const equal = *rc::gen::arbitrary<bool>();
    Offset at = ascending ? 0 : *rc::gen::inRange<Offset>(-5000, 5000);
    for (int i = 0; i < count; ++i) {
        Bytes const length = equal ? 8 : draw_length();
        bool const single = *rc::gen::inRange(0, 10) > 0;
        auto const times = single ? 1 : *rc::gen::inRange<std::int64_t>(0, 40);
        Offset const gap = *rc::gen::inRange<Offset>(0, 3) * 8;
        Offset const stride = ascending ? length + gap : *rc::gen::inRange<Offset>(-100, 100);
        runs.push_back({at, length, stride, times});
        at += std::max<Offset>(0, (times - 1) * stride + length);
        at += ascending || *rc::gen::arbitrary<bool>() ? draw_jump() : -draw_jump();
    }
    runs.push_back({at, 16, 0, 1});
    return runs;
}

RC_GTEST_PROP(Sections, KeepEveryByteInOrder, ()) {
    auto const runs = draw_runs(*rc::gen::arbitrary<bool>());
    Sections const sections(runs);
    RC_ASSERT(stretches_of(sections) == stretches_of(runs));
    RC_ASSERT(sections.bytes() == bytes_of(runs));
}

RC_GTEST_PROP(Sections, RepeatedBlocksKeepEveryByteInOrder, ()) {
    auto const runs = draw_runs(*rc::gen::arbitrary<bool>(), 60);
    auto const first = draw_runs(false, 10);
    Offset const shift = *rc::gen::inRange<Offset>(-1000, 1000);
    Offset const step = *rc::gen::inRange<Offset>(-1000, 1000);
    auto const times = *rc::gen::inRange<std::int64_t>(0, 5);
    Stretches expected = stretches_of(first);
    for (std::int64_t i = 0; i < times; ++i) {
        for (Run const& run : runs) append(expected, run, shift + i * step);
    }
    append(expected, {1, 2, 3, 4});

    Extents extents;
    for (Run const& run : first) extents.add(run);
    {
        Sections const block(runs);  // Gone before its copies are used.
        extents.add_repeated(block, shift, times, step);
    }
    extents.add({1, 2, 3, 4});
    Sections const sections = std::move(extents).take();
    RC_ASSERT(stretches_of(sections) == expected);
    RC_ASSERT(sections.bytes() == bytes_of(first) + times * bytes_of(runs) + 8);
}

RC_GTEST_PROP(Layout, PositionsOfScatteredPieces, ()) {
    auto const runs = draw_runs(false);
    Offset const extent = *rc::gen::inRange<Offset>(-100'000, 100'000);
    Layout const layout(runs, extent);
    auto const begin = *rc::gen::inRange<Bytes>(0, 3 * layout.tile_bytes());
    auto const expected = cut(runs, extent, begin, begin + 1);
    RC_ASSERT(layout.offset_at(begin) == expected.front().begin);
    Cursor cursor(layout, begin);
    RC_ASSERT(cursor.offset() == expected.front().begin);
}

RC_GTEST_PROP(Cursor, PiecesAheadInAnyRoom, ()) {
    auto const runs = draw_runs(*rc::gen::arbitrary<bool>());
    Offset const extent = *rc::gen::inRange<Offset>(-100'000, 100'000);
    Layout const layout(runs, extent);
    auto const begin = *rc::gen::inRange<Bytes>(0, 2 * layout.tile_bytes());
    auto const end = begin + *rc::gen::inRange<Bytes>(0, 100'000);
    auto const most = *rc::gen::element<Bytes>(1, 50, 5000, 100'000);
    Cursor cursor(layout, begin);
    Stretches found;
    for (Bytes at = begin; at < end;) {
        auto const room = std::min(end - at, *rc::gen::inRange<Bytes>(1, most + 1));
        Pieces const pieces = cursor.pieces(room);
        RC_ASSERT(pieces.count > 0 && pieces.bytes > 0 && pieces.bytes <= room);
        RC_ASSERT(pieces.bytes_before(pieces.count) == pieces.bytes);
        pieces.for_each([&](Offset o, Bytes length) { append(found, Span{o, o + length}); });
        cursor.advance(pieces);
        at += pieces.bytes;
    }
    RC_ASSERT(found == cut(runs, extent, begin, end));
}

RC_GTEST_PROP(Layout, OffsetsFarApartAreFound, ()) {
    auto const runs = draw_runs(true);
    Offset const end = runs.back().offset + runs.back().length;
    Layout const layout(runs, end + *rc::gen::inRange<Offset>(0, 100));
    RC_ASSERT(layout.is_ascending());
    auto const position = *rc::gen::inRange<Bytes>(0, 3 * layout.tile_bytes());
    Offset const here = layout.offset_at(position);
    RC_ASSERT(layout.position_at_or_after(here) == position);
    // The next byte that is selected, whatever lies between.
    Offset const next = layout.offset_at(position + 1);
    RC_ASSERT(layout.position_at_or_after(here + 1) == position + 1);
    RC_ASSERT(layout.position_at_or_after(next) == position + 1);
    RC_ASSERT(layout.position_at_or_after(here + (next - here + 1) / 2) == position + 1);
}

RC_GTEST_PROP(Layout, PieceCountsAndAlignment, ()) {
    auto const runs = draw_runs(true);
    Offset const end = runs.back().offset + runs.back().length;
    Layout const layout(runs, end + 8);
    auto const all = stretches_of(runs);
    RC_ASSERT(layout.piece_count(0, layout.tile_bytes()) == static_cast<std::int64_t>(all.size()));
    auto const begin = *rc::gen::inRange<Bytes>(0, layout.tile_bytes());
    auto const stop = *rc::gen::inRange<Bytes>(begin, layout.tile_bytes() + 1);
    auto const inside = cut(runs, end + 8, begin, stop).size();
    RC_ASSERT(layout.piece_count(begin, stop) == static_cast<std::int64_t>(inside));
    auto bits = static_cast<std::uint64_t>(end + 8);
    for (Span const& s : all) bits |= static_cast<std::uint64_t>(s.begin | s.bytes());
    RC_ASSERT((layout.alignment_bits() & -layout.alignment_bits()) == (bits & -bits));
}

TEST(Layout, NotAscendingWhereAnyPieceGoesBack) {
    std::vector<sluice::Run> runs;
    for (Offset i = 0; i < 1000; ++i) runs.push_back({i * i * 10, 8, 0, 1});
    EXPECT_TRUE(Layout(runs, 10'000'000).is_ascending());
    runs[700].offset -= 14'000;
    EXPECT_FALSE(Layout(runs, 10'000'000).is_ascending());
    EXPECT_FALSE(Layout(std::vector<sluice::Run>{{0, 8, 16, 2}}, 20).is_ascending());
}

/// Offsets of the first `count` positions.
std::vector<std::size_t> places_of(std::vector<Run> const& runs, Offset extent, Bytes begin,
                                   Bytes count) {
    std::vector<std::size_t> all;
    for (Span const& s : cut(runs, extent, begin, begin + count)) {
        for (Offset at = s.begin; at < s.end; ++at) all.push_back(static_cast<std::size_t>(at));
    }
    return all;
}

/// Disjoint pieces in any order, within 64 KiB: equal or not, alone or in short runs.
std::vector<Run> draw_near_runs() {
    std::vector<Run> runs;
    int const count = *rc::gen::inRange(1, 400);
    auto const equal = *rc::gen::element<Bytes>(0, 1, 4, 8, 12, 40, 64);
    Offset at = 0;
    for (int i = 0; i < count && at < 60'000; ++i) {
        Bytes const length = equal > 0 ? equal : *rc::gen::inRange<Bytes>(1, 200);
        runs.push_back({at, length, 0, 1});
        at += length + *rc::gen::inRange<Offset>(0, 3) * 4;
    }
    if (*rc::gen::arbitrary<bool>()) return runs;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        std::swap(runs[i], runs[*rc::gen::inRange<std::size_t>(0, i + 1)]);
    }
    return runs;
}

RC_GTEST_PROP(Copy, ScatteredToScattered, ()) {
    auto const to = draw_near_runs();
    bool const dense = *rc::gen::arbitrary<bool>();
    auto const from = dense ? std::vector<Run>{{3, 70'000, 0, 1}} : draw_near_runs();
    bool const turned = *rc::gen::arbitrary<bool>();
    auto const &a = turned ? from : to, &b = turned ? to : from;
    Offset const extent = 72'000;
    Bytes const begin = *rc::gen::inRange<Bytes>(0, 100), start = *rc::gen::inRange<Bytes>(0, 100);
    Bytes const bytes =
        std::min({bytes_of(a) - begin, bytes_of(b) - start, *rc::gen::inRange<Bytes>(0, 70'000)});
    std::vector<std::byte> source(2 * extent), target(2 * extent), expected(2 * extent);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251 + 1);
    auto const places = places_of(a, extent, begin, bytes);
    auto const origins = places_of(b, extent, start, bytes);
    for (std::size_t i = 0; i < places.size(); ++i) expected[places[i]] = source[origins[i]];
    copy({{a, extent}, begin}, target.data(), {{b, extent}, start}, source.data(), bytes);
    RC_ASSERT(target == expected);
    std::ranges::fill(target, std::byte{0});
    testing::copy_by_rows({{a, extent}, begin}, target.data(), {{b, extent}, start}, source.data(),
                          bytes);
    RC_ASSERT(target == expected);
}

TEST(Layout, IrregularPiecesTakeAFewBytesEach) {
    std::vector<sluice::Run> equal, unequal;
    std::uint64_t state = 1;
    auto const draw = [&](std::uint64_t limit) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::int64_t>((state >> 33) % limit);
    };
    constexpr std::int64_t pieces = 100'000;
    Offset at = 0;
    for (std::int64_t i = 0; i < pieces; ++i) {
        equal.push_back({at, 8, 0, 1});
        unequal.push_back({at, 8 + 8 * draw(20), 0, 1});
        at += 200 + 8 * draw(100);
    }
    EXPECT_LT(Layout(equal, at).memory_bytes(), 4.7 * pieces);
    EXPECT_LT(Layout(unequal, at).memory_bytes(), 6.8 * pieces);
    EXPECT_LT(Layout(std::vector<sluice::Run>{{0, 8, 64, pieces}}, at).memory_bytes(), 512);
}

}  // namespace
}  // namespace sluice::sections_test
