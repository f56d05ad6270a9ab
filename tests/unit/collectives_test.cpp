// Schedules of collectives, those of all ranks together: each must bring every byte where MPI says,
// whatever the ranks, roots and sizes.
#include "collective_world.hpp"
#include "golden.hpp"
#include "sanitizers.hpp"
#include "schedule/describe.hpp"
#include "schedule/schedule_check.hpp"
#include "simulate/proof/collective_check.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::collectives_test {
namespace {

using testing::CallShape;
using testing::draw_calls;
using testing::make_all;

constexpr bool is_slow = testing::has_thread_sanitizer || testing::has_address_sanitizer;
constexpr Rank dense_ranks = is_slow ? 9 : 17, ranks_step = is_slow ? 28 : 1,
               most_ranks = is_slow ? 161 : 1024;

/// Every algorithm for the case; how many there are.
int expect_sound(CallShape const& c, Bytes segment) {
    auto const calls = draw_calls(c);
    auto const algorithms = algorithms_of(calls.front(), c.ranks);
    EXPECT_FALSE(algorithms.empty());
    for (Algorithm const algorithm : algorithms) {
        EXPECT_EQ(first_fault(calls, make_all(calls, algorithm, segment)), "")
            << describe(algorithm) << ": " << name(c) << ", segments of " << segment;
    }
    return static_cast<int>(algorithms.size());
}

/// All roots of few ranks; of many the first, the last and two between.
std::set<Rank> roots_of(CollectiveKind kind, Rank ranks) {
    if (!testing::has_root(kind)) return {0};
    if (ranks > 9) return {0, ranks / 3, ranks / 2 + 1, ranks - 1};
    std::set<Rank> all;
    for (Rank r = 0; r < ranks; ++r) all.insert(r);
    return all;
}

int expect_all_sound(CallShape c) {
    int checked = 0;
    auto const in_place_too = testing::can_be_in_place(c.kind);
    for (Rank const root : roots_of(c.kind, c.ranks)) {
        for (bool const in_place : {false, true}) {
            if (in_place && !in_place_too) continue;
            c.root = root, c.in_place = in_place;
            c.commutative = !reduces(c.kind) || c.seed % 2 == 0;
            ++c.seed;
            for (Bytes const block : c.ranks <= dense_ranks ? std::vector<Bytes>{0, 1, 7, 1000}
                                                            : std::vector<Bytes>{101}) {
                c.block = block;
                c.element = reduces(c.kind) && block % 4 == 0 ? 4 : 1;
                checked += expect_sound(c, block > 100 ? 96 : 4);
            }
        }
    }
    return checked;
}

/// Some algorithm has as many messages or reductions as there are pairs of ranks.
bool is_quadratic(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
    case CollectiveKind::alltoall:
    case CollectiveKind::alltoallv:
    case CollectiveKind::allreduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block:
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
        return true;
    default:
        return false;
    }
}

class EveryKind : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(EveryKind, OfFewRanks) {
    int checked = 0;
    for (Rank ranks = 1; ranks <= dense_ranks; ++ranks) {
        checked += expect_all_sound({.kind = GetParam(), .ranks = ranks});
    }
    EXPECT_GE(checked, 4 * dense_ranks);
}

TEST_P(EveryKind, OfUpTo64Ranks) {
    for (Rank ranks = 64; ranks > dense_ranks; ranks -= ranks_step) {
        expect_all_sound({.kind = GetParam(), .ranks = ranks});
    }
}

TEST_P(EveryKind, OfManyRanks) {
    bool const much_work = is_quadratic(GetParam());
    CallShape c{.kind = GetParam(), .block = 33, .seed = 5};
    c.ranks = much_work ? most_ranks / 4 : most_ranks;
    c.root = testing::has_root(c.kind) ? c.ranks / 3 : 0;
    Bytes const segment = much_work || reduces(c.kind) ? 64 : 8;
    expect_sound(c, segment);
    c.in_place = testing::can_be_in_place(c.kind);
    if (c.in_place) expect_sound(c, segment);
}

/// Positions that do not fit in 32 bits; symbolic, so sizes cost nothing.
TEST_P(EveryKind, OfLargeBlocks) {
    for (Rank const ranks : {2, 3, 8, 13}) {
        for (Bytes const block : {(Bytes{1} << 20) + 1, Bytes{5} << 30}) {
            CallShape c{.kind = GetParam(), .ranks = ranks, .block = block};
            c.root = testing::has_root(c.kind) ? ranks - 1 : 0;
            Bytes const segment = block / (reduces(c.kind) ? 5 : 100);
            expect_sound(c, segment);
            c.in_place = testing::can_be_in_place(c.kind);
            if (c.in_place) expect_sound(c, segment);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Moving, EveryKind, ::testing::ValuesIn(testing::moving_kinds),
                         [](auto const& kind) { return std::string(describe(kind.param)); });

INSTANTIATE_TEST_SUITE_P(Reducing, EveryKind, ::testing::ValuesIn(testing::reducing_kinds),
                         [](auto const& kind) { return std::string(describe(kind.param)); });

TEST(Collectives, SmallCallsOfTwoRanksHaveFewOps) {
    auto const ops = [](CollectiveKind kind, bool in_place, Rank self) {
        CallShape const c{.kind = kind, .ranks = 2, .in_place = in_place, .block = 8};
        auto const calls = draw_calls(c);
        auto const made = make_all(calls, algorithms_of(calls.front(), 2).front());
        return made[static_cast<std::size_t>(self)].schedule;
    };
    for (Rank const self : {0, 1}) {
        EXPECT_EQ(ops(CollectiveKind::barrier, false, self).ops.size(), 2U);
        EXPECT_EQ(ops(CollectiveKind::bcast, false, self).ops.size(), 1U);
        EXPECT_EQ(ops(CollectiveKind::alltoall, false, self).ops.size(), 3U);
        EXPECT_EQ(ops(CollectiveKind::alltoall, false, self).edges.size(), 0U);
        EXPECT_EQ(ops(CollectiveKind::allgather, false, self).ops.size(), 3U);
        EXPECT_EQ(ops(CollectiveKind::allgather, false, self).edges.size(), 0U);
        EXPECT_EQ(ops(CollectiveKind::allgather, true, self).ops.size(), 2U);
    }
    EXPECT_EQ(ops(CollectiveKind::gather, false, 0).ops.size(), 2U);
    EXPECT_EQ(ops(CollectiveKind::gather, false, 1).ops.size(), 1U);
    EXPECT_EQ(ops(CollectiveKind::scatter, true, 0).ops.size(), 1U);
}

TEST(Collectives, OneRankMovesAtMostItsOwnBlock) {
    for (CollectiveKind const kind : testing::moving_kinds) {
        if (testing::is_neighborhood(kind)) continue;
        auto const calls = draw_calls({.kind = kind, .ranks = 1, .block = 8, .seed = 1});
        for (Algorithm const algorithm : algorithms_of(calls.front(), 1)) {
            auto const made = make_all(calls, algorithm);
            EXPECT_LE(made.front().schedule.ops.size(), 1U) << describe(kind);
            EXPECT_EQ(made.front().scratch, 0) << describe(kind);
        }
    }
}

TEST(Collectives, TextIsStable) {
    struct Golden {
        CollectiveKind kind;
        Algorithm algorithm;
        Rank ranks;
        Bytes block;
    };
    for (Golden const& g : {
             Golden{CollectiveKind::bcast, Algorithm::chain, 4, 40},
             Golden{CollectiveKind::alltoall, Algorithm::bruck, 5, 8},
             Golden{CollectiveKind::gather, Algorithm::binomial, 6, 8},
             Golden{CollectiveKind::barrier, Algorithm::dissemination, 5, 0},
         }) {
        CallShape const c{.kind = g.kind,
                          .ranks = g.ranks,
                          .root = testing::has_root(g.kind) ? 1 : 0,
                          .block = g.block};
        auto const made = make_all(draw_calls(c), g.algorithm, 16);
        std::string text;
        for (std::size_t r = 0; r < made.size(); ++r) {
            text += "rank " + std::to_string(r) + ", scratch " + std::to_string(made[r].scratch) +
                    "\n" + describe(made[r].schedule);
        }
        testing::expect_golden(std::string(describe(g.kind)) + "_" + describe(g.algorithm) + "_" +
                                   std::to_string(g.ranks) + "_ranks.txt",
                               text);
    }
}

}  // namespace
}  // namespace sluice::collectives_test
