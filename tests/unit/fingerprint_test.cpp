// Property tests of the proof of coverage: closed forms against sums over single pieces, tilings
// that must be proved, and faults that must not be.
#include "base/fingerprint.hpp"

#include "base/request.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <thread>

namespace sluice::fingerprint_test {
namespace {

constexpr Offset far = Offset{1} << 62;

/// Any key proves what covers; which one is drawn matters to what does not.
FingerprintKey const& key() {
    static auto const only = FingerprintKey::of_seed(1);
    return *only;
}

/// The sum over single pieces, each as a span.
Fingerprint piecewise(std::vector<Run> const& runs, Offset shift = 0) {
    Fingerprint sum;
    for (Run const& run : runs) {
        for (std::int64_t i = 0; i < run.count; ++i) {
            Offset const begin = shift + run.offset + i * run.stride;
            sum = sum + fingerprint(Span{begin, begin + run.length}, key());
        }
    }
    return sum;
}

/// Whole numbers of all sizes: evenly many of each number of bits.
Offset draw_offset(int bits_max) {
    int const bits = *rc::gen::inRange(0, bits_max + 1);
    return *rc::gen::inRange<Offset>(0, (Offset{1} << bits) + 1);
}

Run draw_run() {
    Bytes const length = 1 + draw_offset(20);
    auto const count = *rc::gen::inRange<std::int64_t>(1, 40);
    return {draw_offset(61), length, length + draw_offset(50), count};
}

std::vector<Run> draw_runs() {
    std::vector<Run> runs;
    int const count = *rc::gen::inRange(1, 20);
    for (int i = 0; i < count; ++i) runs.push_back(draw_run());
    return runs;
}

/// Ascending runs, and the extent of a tile of them, which may leave a gap.
std::shared_ptr<Layout const> draw_layout() {
    Extents extents;
    Offset const origin = draw_offset(30);
    Offset at = origin;
    int const count = *rc::gen::inRange(1, 12);
    for (int i = 0; i < count; ++i) {
        Bytes const length = 1 + draw_offset(12);
        auto const pieces = *rc::gen::inRange<std::int64_t>(1, 6);
        Offset const stride = length + draw_offset(14);
        extents.add({at, length, stride, pieces});
        at += (pieces - 1) * stride + length + draw_offset(18);
    }
    return std::make_shared<Layout const>(std::move(extents).take(), at - origin + draw_offset(10));
}

/// Single pieces of the request, found by walking.
Fingerprint walked(Request const& request) {
    Fingerprint sum;
    Cursor cursor(*request.view.filetype, request.position);
    for (Bytes left = request.bytes; left > 0;) {
        Bytes const length = std::min(left, cursor.piece_left());
        Offset const begin = request.view.displacement + cursor.offset();
        sum = sum + fingerprint(Span{begin, begin + length}, key());
        cursor.advance_in_piece(length);
        left -= length;
    }
    return sum;
}

/// The span cut into pieces, in order.
std::vector<Span> draw_tiling(Span span) {
    std::vector<Span> pieces;
    while (!span.empty()) {
        Bytes const length = std::min(span.bytes(), 1 + draw_offset(12));
        pieces.push_back({span.begin, span.begin + length});
        span.begin += length;
    }
    return pieces;
}

Span draw_span() {
    Offset const begin = draw_offset(61);
    return {begin, begin + 1 + draw_offset(16)};
}

Fingerprint of(std::vector<Span> const& pieces) {
    Fingerprint sum;
    for (Span const piece : pieces) sum = sum + fingerprint(piece, key());
    return sum;
}

/// What is drawn as a fault covers something else.
bool same_bytes(std::vector<Span> a, std::vector<Span> b) {
    auto const edges = [](std::vector<Span> const& pieces, std::vector<Span> const& others) {
        std::vector<Offset> all;
        for (Span const piece : pieces) all.push_back(piece.begin);
        for (Span const piece : others) all.push_back(piece.end);
        std::sort(all.begin(), all.end());
        return all;
    };
    return edges(a, b) == edges(b, a);
}

RC_GTEST_PROP(Fingerprint, TilingsDealtOutToRanksProve, ()) {
    Span const span = draw_span();
    auto const ranks = *rc::gen::inRange<std::size_t>(1, 9);
    std::vector<Extents> dealt(ranks);
    for (Span const piece : draw_tiling(span)) {
        dealt[*rc::gen::inRange<std::size_t>(0, ranks)].add({piece.begin, piece.bytes(), 0, 1});
    }
    Fingerprint sum;
    for (Extents& extents : dealt) {
        std::move(extents).take().for_each_run(
            [&](sluice::Run const& run) { sum = sum + fingerprint(run, key()); });
    }
    RC_ASSERT(sum == fingerprint(span, key()));
}

RC_GTEST_PROP(Fingerprint, FaultyTilingsDoNotProve, ()) {
    Span const span = draw_span();
    auto const pieces = draw_tiling(span);
    auto const at = [&] { return *rc::gen::inRange<std::size_t>(0, pieces.size()); };
    auto faulty = pieces;
    switch (*rc::gen::inRange(0, 5)) {
    case 0:  // One piece twice, another not at all.
        faulty[at()] = faulty[at()];
        break;
    case 1: {  // One begins one byte further on, or earlier.
        Offset const by = *rc::gen::element<Offset>(-1, 1);
        faulty[at()].begin += by;
        break;
    }
    case 2: {  // One piece as a whole elsewhere.
        Offset const by = draw_offset(16);
        Span& moved = faulty[at()];
        moved = {moved.begin + by, moved.end + by};
        break;
    }
    case 3: {  // The begins of two pieces swapped, each with its length.
        Span &a = faulty[at()], &b = faulty[at()];
        Bytes const of_a = a.bytes(), of_b = b.bytes();
        std::swap(a.begin, b.begin);
        a.end = a.begin + of_a;
        b.end = b.begin + of_b;
        break;
    }
    default:  // One lost.
        faulty.erase(faulty.begin() + static_cast<std::ptrdiff_t>(at()));
    }
    RC_PRE(!same_bytes(faulty, pieces));
    RC_ASSERT(of(faulty) != fingerprint(span, key()));
}

TEST(Fingerprint, OverlapsThatHideHolesDoNotProve) {
    auto const proves = [](std::vector<Span> const& pieces, Span span) {
        return of(pieces) == fingerprint(span, key());
    };
    EXPECT_TRUE(proves({{8, 16}, {0, 8}}, {0, 16}));
    EXPECT_FALSE(proves({{0, 8}, {0, 8}}, {0, 16}));
    EXPECT_FALSE(proves({{8, 16}, {8, 16}}, {0, 16}));
    EXPECT_FALSE(proves({{0, 8}, {4, 12}}, {0, 16}));
    EXPECT_FALSE(proves({{0, 4}, {2, 6}, {4, 8}, {2, 6}}, {0, 16}));
    EXPECT_FALSE(proves({{0, 8}, {9, 17}}, {0, 16}));
    EXPECT_FALSE(proves({{0, 16}, {0, 16}}, {0, 16}));
    EXPECT_FALSE(proves({{0, 16}, {0, 16}}, {0, 32}));
    EXPECT_FALSE(proves({{far, far + 8}, {far, far + 8}}, {far, far + 16}));
    EXPECT_FALSE(proves({}, {0, 16}));
}

TEST(Fingerprint, PeriodicOverlapsDoNotProve) {
    // Every rank shifted alike; the strides divide the order of a badly chosen r.
    for (Bytes const length : {1, 2, 3, 8, 61, 64, 1321, 4096}) {
        for (std::int64_t const ranks : {2, 3, 4, 7, 16, 64, 151}) {
            Fingerprint right, wrong;
            for (std::int64_t rank = 0; rank < ranks; ++rank) {
                right =
                    right +
                    fingerprint(sluice::Run{rank * length, length, ranks * length, 1024}, key());
                wrong = wrong +
                        fingerprint(sluice::Run{rank / 2 * length, length, ranks * length, 1024},
                                    key());
            }
            EXPECT_EQ(right, fingerprint(Span{0, ranks * length * 1024}, key()));
            EXPECT_NE(wrong, right);
        }
    }
}

RC_GTEST_PROP(Fingerprint, OfARunIsThatOfItsPieces, ()) {
    sluice::Run const run = draw_run();
    RC_ASSERT(fingerprint(run, key()) == piecewise({run}));
}

RC_GTEST_PROP(Fingerprint, OfALongRunHalvesAsItsPiecesDo, ()) {
    Bytes const length = 1 + draw_offset(10);
    Offset const stride = length + draw_offset(10);
    auto const count = 2 + draw_offset(39), first = *rc::gen::inRange<Offset>(1, count);
    sluice::Run const all{draw_offset(50), length, stride, count};
    sluice::Run const left{all.offset, length, stride, first};
    sluice::Run const right{all.offset + first * stride, length, stride, count - first};
    RC_ASSERT(fingerprint(left, key()) + fingerprint(right, key()) == fingerprint(all, key()));
    RC_ASSERT(fingerprint(sluice::Run{all.offset, length, length, count}, key()) ==
              fingerprint(Span{all.offset, all.offset + count * length}, key()));
}

RC_GTEST_PROP(Fingerprint, OfALayoutIsThatOfItsRuns, ()) {
    auto const runs = draw_runs();  // In any order, also backwards and overlapping.
    Layout const layout(runs, draw_offset(40));
    RC_ASSERT(fingerprint(layout, key()) == piecewise(runs));
    RC_ASSERT(fingerprint(Layout(layout), key()) == piecewise(runs));
}

RC_GTEST_PROP(Fingerprint, ShiftedIsThatOfShiftedPieces, ()) {
    auto const runs = draw_runs();
    Fingerprint const here = piecewise(runs);
    Offset const distance = draw_offset(60);
    Fingerprint const there = shifted(here, distance, key());
    RC_ASSERT(there == piecewise(runs, distance));
    RC_ASSERT(shifted(there, -distance, key()) == here);
    RC_ASSERT(shifted(here, 0, key()) == here);
}

RC_GTEST_PROP(Fingerprint, RepeatedIsThatOfAllCopies, ()) {
    auto const runs = draw_runs();
    auto const times = *rc::gen::inRange<std::int64_t>(0, 40);
    Offset const step = *rc::gen::element<Offset>(-1, 1) * draw_offset(55);
    Fingerprint sum;
    for (std::int64_t i = 0; i < times; ++i) sum = sum + shifted(piecewise(runs), i * step, key());
    RC_ASSERT(repeated(piecewise(runs), times, step, key()) == sum);
}

RC_GTEST_PROP(Fingerprint, OfARequestIsThatOfItsPieces, ()) {
    Request r;
    r.view = {draw_offset(61), draw_layout(), 1};
    Bytes const tile = r.view.filetype->tile_bytes();
    bool const whole = *rc::gen::inRange(0, 2) == 0;
    r.position = *rc::gen::inRange<Bytes>(0, 5) * tile;
    r.bytes = *rc::gen::inRange<Bytes>(0, 5) * tile;
    if (!whole) {
        r.position += *rc::gen::inRange<Bytes>(0, tile);
        r.bytes += *rc::gen::inRange<Bytes>(0, tile);
    }
    auto const found = fingerprint(r, key());
    RC_ASSERT(found.has_value());
    RC_ASSERT(*found == walked(r));
}

RC_GTEST_PROP(Fingerprint, OfAContiguousRequestIsThatOfItsSpan, ()) {
    Request r;
    r.view.displacement = draw_offset(60);
    r.position = draw_offset(60);
    r.bytes = 1 + draw_offset(50);
    Offset const begin = r.view.displacement + r.position;
    RC_ASSERT(fingerprint(r, key()) == fingerprint(Span{begin, begin + r.bytes}, key()));
}

RC_GTEST_PROP(Fingerprint, RanksOfDifferentTileCountsProve, ()) {
    // Rank k has piece k of each tile. The first ones write some tiles more, one at the end closes.
    auto const ranks = *rc::gen::inRange<std::int64_t>(1, 8);
    Bytes const piece = 1 + draw_offset(12);
    auto const tiles = *rc::gen::inRange<std::int64_t>(1, 1000);
    auto const more = *rc::gen::inRange<std::int64_t>(0, ranks);
    Offset const displacement = draw_offset(60);
    Fingerprint sum;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        Request r;
        std::vector<sluice::Run> const mine{{rank * piece, piece, 0, 1}};
        r.view = {displacement, std::make_shared<Layout const>(mine, ranks * piece), 1};
        r.bytes = (tiles + (rank < more ? 1 : 0)) * piece;
        sum = sum + fingerprint(r, key()).value();
    }
    RC_ASSERT(sum == fingerprint(Span{displacement, displacement + (tiles * ranks + more) * piece},
                                 key()));
}

TEST(Fingerprint, PartsOfLargeTilesAreNotKnown) {
    std::vector<sluice::Run> runs;
    for (Offset i = 0; i < 5000; ++i) runs.push_back({i * i + i * 10, 8, 0, 1});
    Request r;
    r.view.filetype = std::make_shared<Layout const>(runs, Offset{1} << 40);
    r.bytes = r.view.filetype->tile_bytes() * 3;
    EXPECT_EQ(fingerprint(r, key()), walked(r));
    r.bytes += 8 * 1000;
    EXPECT_EQ(fingerprint(r, key()), walked(r));
    r.bytes += 8 * 1000;
    EXPECT_EQ(fingerprint(r, key()), std::nullopt);
    r.bytes = 0;
    EXPECT_EQ(fingerprint(r, key()), Fingerprint{});
}

TEST(Fingerprint, OfALayoutMayBeAskedForByManyThreads) {
    std::vector<sluice::Run> runs;
    for (Offset i = 0; i < 5000; ++i) runs.push_back({i * i + i * 10, 8, 0, 1});
    Layout const layout(runs, Offset{1} << 40);
    std::array<Fingerprint, 4> found;
    std::vector<std::jthread> threads;
    for (Fingerprint& f : found) threads.emplace_back([&] { f = fingerprint(layout, key()); });
    threads.clear();
    for (Fingerprint const& f : found) EXPECT_EQ(f, piecewise(runs));
}

}  // namespace
}  // namespace sluice::fingerprint_test
