// Loops of reads, as programs make them, and what a ReadSequence foretells of them.
#include "file/plan/read_sequence.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::read_sequence_test {
namespace {

/// `bytes` from `place` on, in two pieces with a gap.
Request read_of(Offset place, Bytes bytes) {
    Request r;
    r.direction = Direction::read;
    r.view.filetype =
        std::make_shared<Layout const>(std::vector<Run>{{0, bytes, 2 * bytes, 2}}, 8 * bytes);
    r.view.displacement = place;
    r.bytes = 2 * bytes;
    return r;
}

Offset place_of(Request const& r) { return span_of(r).begin; }

bool same(Request const& a, Request const& b) { return distance_between(a, b) == Offset{0}; }

/// Variable v of step s, of `variables` that differ in place and maybe in length.
struct Loop {
    std::vector<Bytes> lengths;
    Offset step_bytes;

    [[nodiscard]] Request read(int number) const {
        auto const variable = static_cast<std::size_t>(number) % lengths.size();
        auto const step = number / static_cast<int>(lengths.size());
        Offset place = step * step_bytes;
        for (std::size_t v = 0; v < variable; ++v) place += 4 * lengths[v];
        return read_of(place, lengths[variable]);
    }
};

Loop draw_loop() {
    Loop loop{{}, 0};
    int const variables = *rc::gen::inRange(1, ReadSequence::most_period + 1);
    for (int v = 0; v < variables; ++v) {
        loop.lengths.push_back(*rc::gen::inRange<Bytes>(1, 4));
        loop.step_bytes += 4 * loop.lengths.back();
    }
    loop.step_bytes += *rc::gen::inRange<Offset>(0, 3);
    return loop;
}

/// Whatever else a loop looks like in its first steps, the third one is known.
RC_GTEST_PROP(ReadSequence, ForetellsLoopsAfterTwoSteps, ()) {
    Loop const loop = draw_loop();
    auto const variables = static_cast<int>(loop.lengths.size());
    ReadSequence sequence;
    int const reads = (*rc::gen::inRange(3, 6)) * variables + *rc::gen::inRange(0, variables);
    for (int i = 0; i < reads; ++i) sequence.add(loop.read(i));
    for (int ahead = 1; ahead <= 6; ++ahead) {
        auto const next = sequence.next(ahead);
        RC_ASSERT(next.has_value());
        RC_ASSERT(same(*next, loop.read(reads - 1 + ahead)));
    }
    RC_ASSERT(sequence.was_foretold());
}

TEST(ReadSequence, OneRepetitionIsEnoughForAGuess) {
    ReadSequence sequence;
    EXPECT_FALSE(sequence.next(1));
    sequence.add(read_of(100, 8));
    EXPECT_TRUE(sequence.has_begun());
    EXPECT_FALSE(sequence.next(1));
    sequence.add(read_of(300, 8));
    ASSERT_TRUE(sequence.next(2));
    EXPECT_EQ(place_of(*sequence.next(1)), 500);
    EXPECT_EQ(place_of(*sequence.next(2)), 700);
    EXPECT_FALSE(sequence.was_foretold());
    sequence.add(read_of(500, 8));
    EXPECT_TRUE(sequence.was_foretold());
}

TEST(ReadSequence, WhatEndsIsNotForetoldAnyMore) {
    ReadSequence sequence;
    for (int i = 0; i < 5; ++i) sequence.add(read_of(i * 100, 8));
    EXPECT_TRUE(sequence.was_foretold());
    sequence.add(read_of(7, 3));
    EXPECT_FALSE(sequence.was_foretold());
    EXPECT_FALSE(sequence.next(1));
}

TEST(ReadSequence, RanksWithoutBytesFollow) {
    ReadSequence sequence;
    for (int i = 0; i < 3; ++i) sequence.add(nothing(Direction::read));
    ASSERT_TRUE(sequence.next(1));
    EXPECT_EQ(sequence.next(1)->bytes, 0);
}

/// HDF5 sets a view for each read, of which the place within the tile is what moves on.
TEST(ReadSequence, OtherViewsOfBytesThatLieAlike) {
    auto const read = [](Offset place) {
        Request r = read_of(0, 16);
        r.view.filetype = std::make_shared<Layout const>(
            std::vector<sluice::Run>{{place, 16, 32, 2}}, Offset{100'000});
        return r;
    };
    ReadSequence sequence;
    sequence.add(read(1000));
    sequence.add(read(3000));
    ASSERT_TRUE(sequence.next(1));
    EXPECT_TRUE(same(*sequence.next(1), read(5000)));
}

}  // namespace
}  // namespace sluice::read_sequence_test
