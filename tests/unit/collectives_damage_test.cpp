// The check of collectives finds damage: schedules that are right are changed in one place, and
// must not pass. Where a change can do no harm, most of its kind must be found.
#include "collective_world.hpp"
#include "drawn.hpp"
#include "schedule/describe.hpp"
#include "simulate/proof/collective_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

namespace sluice::collectives_damage_test {
namespace {

using testing::CallShape;
using testing::draw_calls;
using testing::make_all;

using All = std::vector<CollectiveSchedule>;
using Random = std::mt19937;

/// The same ops but for one, and edges with new numbers.
Schedule without_op(Schedule const& from, std::uint32_t dropped) {
    Schedule made;
    for (std::uint32_t i = 0; i < from.ops.size(); ++i) {
        if (i == dropped) continue;
        Op const& op = from.ops[i];
        std::vector<std::uint32_t> after;
        for (std::uint32_t e = 0; e < op.edge_count; ++e) {
            std::uint32_t const edge = from.edges[op.first_edge + e];
            if (edge != dropped) after.push_back(edge - (edge > dropped ? 1 : 0));
        }
        made.add(op, after);
    }
    return made;
}

Schedule without_edge(Schedule const& from, std::uint32_t of, std::uint32_t dropped) {
    Schedule made;
    for (std::uint32_t i = 0; i < from.ops.size(); ++i) {
        Op const& op = from.ops[i];
        std::vector<std::uint32_t> after;
        for (std::uint32_t e = 0; e < op.edge_count; ++e) {
            if (i != of || e != dropped) after.push_back(from.edges[op.first_edge + e]);
        }
        made.add(op, after);
    }
    return made;
}

/// Changes one thing; false where this schedule has nothing of the kind.
using Damage = std::function<bool(Schedule&, Random&)>;

std::uint32_t pick(Schedule const& schedule, Random& random) {
    return static_cast<std::uint32_t>(random() % schedule.ops.size());
}

bool drop_op(Schedule& s, Random& random) {
    s = without_op(s, pick(s, random));
    return true;
}

/// Whether `op` still starts after `before`, by other ways.
bool is_after(Schedule const& s, std::uint32_t op, std::uint32_t before) {
    if (op <= before) return op == before;
    auto const edges = std::span(s.edges).subspan(s.ops[op].first_edge, s.ops[op].edge_count);
    return std::ranges::any_of(edges, [&](auto edge) { return is_after(s, edge, before); });
}

bool overlap(Memory a, Bytes a_at, Bytes a_bytes, Memory b, Bytes b_at, Bytes b_bytes) {
    return a == b && a != Memory::none && a_at < b_at + b_bytes && b_at < a_at + a_bytes;
}

bool writes_what_is_used(Op const& a, Op const& b) {
    return overlap(a.target, a.target_at, a.bytes, b.source, b.source_at, b.bytes) ||
           overlap(a.target, a.target_at, a.bytes, b.target, b.target_at, b.bytes);
}

/// Only edges that keep bytes apart and that no others stand in for: those of a throttle do not.
bool drop_edge(Schedule& s, Random& random) {
    auto const op = pick(s, random);
    if (s.ops[op].edge_count == 0) return false;
    auto const dropped = static_cast<std::uint32_t>(random() % s.ops[op].edge_count);
    auto const before = s.edges[s.ops[op].first_edge + dropped];
    Op const &a = s.ops[before], &b = s.ops[op];
    if (!writes_what_is_used(a, b) && !writes_what_is_used(b, a)) return false;
    s = without_edge(s, op, dropped);
    return !is_after(s, op, before);
}

bool swap_sources(Schedule& s, Random& random) {
    Op &a = s.ops[pick(s, random)], &b = s.ops[pick(s, random)];
    if (a.source == Memory::none || a.source != b.source || a.source_at == b.source_at) {
        return false;
    }
    std::swap(a.source_at, b.source_at);
    return a.bytes > 0 && b.bytes > 0;
}

bool swap_targets(Schedule& s, Random& random) {
    Op &a = s.ops[pick(s, random)], &b = s.ops[pick(s, random)];
    if (a.target == Memory::none || a.target != b.target || a.target_at == b.target_at) {
        return false;
    }
    std::swap(a.target_at, b.target_at);
    return a.bytes > 0 && b.bytes > 0;
}

bool shorten(Schedule& s, Random& random) {
    Op& op = s.ops[pick(s, random)];
    op.bytes -= 1;
    return op.bytes >= 0;
}

bool change_peer(Schedule& s, Random& random) {
    Op& op = s.ops[pick(s, random)];
    op.peer += 1;
    return op.kind == OpKind::send || op.kind == OpKind::recv;
}

bool change_number(Schedule& s, Random& random) {
    Op& op = s.ops[pick(s, random)];
    op.number += 1;
    return op.kind == OpKind::send || op.kind == OpKind::recv;
}

struct Found {
    int damaged = 0, found = 0;
    std::string missed;  ///< One that was not found.
};

/// Whether two receives or copies changed places that bring the same: a neighbour that is one
/// twice sends the same block along both edges of an allgather.
bool is_harmless(CollectiveKind kind, Schedule const& before, Schedule const& after) {
    if (kind != CollectiveKind::neighbor_allgather && kind != CollectiveKind::neighbor_allgatherv)
        return false;
    std::vector<Op> moved;
    for (std::size_t i = 0; i < before.ops.size() && i < after.ops.size(); ++i)
        if (before.ops[i].target_at != after.ops[i].target_at) moved.push_back(before.ops[i]);
    if (moved.size() != 2 || moved[0].kind != moved[1].kind || moved[0].bytes != moved[1].bytes)
        return false;
    return moved[0].kind == OpKind::recv ? moved[0].peer == moved[1].peer
                                         : moved[0].source_at == moved[1].source_at;
}

void try_damage(Damage const& damage, CallShape const& shape, Random& random, Found& to) {
    auto const calls = draw_calls(shape);
    for (Algorithm const algorithm : algorithms_of(calls.front(), shape.ranks)) {
        for (int repeat = 0; repeat < 6; ++repeat) {
            All all = make_all(calls, algorithm, 16);
            Schedule& one = all[random() % all.size()].schedule;
            Schedule const before = one;
            if (one.ops.empty() || !damage(one, random)) continue;
            if (is_harmless(shape.kind, before, one)) continue;
            ++to.damaged;
            if (!first_fault(calls, all).empty()) {
                ++to.found;
            } else {
                to.missed = std::string(describe(algorithm)) + ": " + name(shape) + "\n" +
                            describe(before) + "became\n" + describe(one);
            }
        }
    }
}

Found try_kinds(std::span<CollectiveKind const> kinds, std::vector<Rank> const& worlds,
                Damage const& damage) {
    Found found;
    Random random(testing::run_seed());
    for (CollectiveKind const kind : kinds) {
        for (Rank const ranks : worlds) {
            for (bool const in_place : {false, true}) {
                if (in_place && !testing::can_be_in_place(kind)) continue;
                CallShape shape{.kind = kind, .ranks = ranks, .in_place = in_place, .block = 40};
                shape.root = testing::has_root(kind) ? ranks / 2 : 0;
                shape.element = reduces(kind) ? 4 : 1;
                shape.commutative = !reduces(kind) || ranks % 2 == 0;
                shape.seed = static_cast<unsigned>(random());
                try_damage(damage, shape, random, found);
            }
        }
    }
    return found;
}

Found try_moving(Damage const& damage) {
    return try_kinds(testing::moving_kinds, {2, 3, 4, 5, 8, 11}, damage);
}

Found try_reducing(Damage const& damage) {
    return try_kinds(testing::reducing_kinds, {2, 3, 6}, damage);
}

TEST(CollectivesDamage, WithoutAnyTheyPass) {
    auto const nothing = [](Schedule&, Random&) { return true; };
    for (Found const& found : {try_moving(nothing), try_reducing(nothing)}) {
        EXPECT_GT(found.damaged, 200);
        EXPECT_EQ(found.found, 0);
    }
}

/// Some reductions combine elements that nobody takes: there damage may do no harm.
TEST(CollectivesDamage, IsFound) {
    for (auto const damage :
         {drop_op, swap_sources, swap_targets, shorten, change_peer, change_number}) {
        Found const moving = try_moving(damage), reducing = try_reducing(damage);
        EXPECT_GT(moving.damaged, 100);
        EXPECT_EQ(moving.found, moving.damaged) << moving.missed;
        EXPECT_GT(reducing.damaged, 50);
        EXPECT_GE(reducing.found, reducing.damaged * 98 / 100) << reducing.missed;
    }
}

TEST(CollectivesDamage, MissingEdgesAreFound) {
    for (Found const& found : {try_moving(drop_edge), try_reducing(drop_edge)}) {
        EXPECT_GT(found.damaged, 100);
        EXPECT_EQ(found.found, found.damaged) << found.missed;
    }
}

/// Where each edge carries data, each must be missed.
TEST(CollectivesDamage, EachEdgeOfAChainIsFound) {
    auto const calls = draw_calls({.kind = CollectiveKind::bcast, .ranks = 4, .block = 64});
    All const sound = make_all(calls, Algorithm::chain, 16);
    for (std::size_t r = 1; r < 3; ++r) {
        for (std::uint32_t i = 0; i < sound[r].schedule.ops.size(); ++i) {
            for (std::uint32_t e = 0; e < sound[r].schedule.ops[i].edge_count; ++e) {
                All all = sound;
                all[r].schedule = without_edge(sound[r].schedule, i, e);
                EXPECT_NE(first_fault(calls, all), "") << r << ": op " << i;
            }
        }
    }
}

TEST(CollectivesDamage, SaysWhatIsWrong) {
    auto const calls = draw_calls({.kind = CollectiveKind::bcast, .ranks = 3, .block = 8});
    All all = make_all(calls, Algorithm::linear);
    all[2].schedule.ops[0].bytes = 7;
    EXPECT_EQ(first_fault(calls, all), "rank 2, op 0 (recv 7 bytes #0 from 0 into output@0): "
                                       "what is sent has 8 bytes");
    all = make_all(calls, Algorithm::linear);
    all[2].schedule.clear();
    EXPECT_EQ(first_fault(calls, all), "rank 0, op 1 (send 8 bytes #0 to 2 from output@0): "
                                       "nobody does the other side of it");
    all = make_all(calls, Algorithm::linear);
    all[0].schedule.clear(), all[2].schedule.clear(), all[1].schedule.clear();
    EXPECT_EQ(first_fault(calls, all), "rank 1: output@0 is nobody@0, not 0@0");
}

/// Both wait for the other's message before they send theirs.
TEST(CollectivesDamage, RanksThatWaitForEachOtherAreFound) {
    auto const calls = draw_calls({.kind = CollectiveKind::barrier, .ranks = 2});
    All all = make_all(calls, Algorithm::dissemination);
    ASSERT_EQ(first_fault(calls, all), "");
    for (CollectiveSchedule& one : all) {
        auto const ops = one.schedule.ops;
        one.schedule.clear();
        auto const heard = one.schedule.add(ops[1], {});
        one.schedule.add(ops[0], {heard});
    }
    EXPECT_NE(first_fault(calls, all), "");
}

/// Two messages with one number, the second free to start first.
TEST(CollectivesDamage, MessagesThatMayOvertakeAreFound) {
    auto const calls = draw_calls({.kind = CollectiveKind::bcast, .ranks = 2, .block = 32});
    All all = make_all(calls, Algorithm::chain, 16);
    for (CollectiveSchedule& one : all) one.schedule.ops[1].number = 0;
    EXPECT_EQ(first_fault(calls, all), "");  // Both may start at once.
    auto ops = all[0].schedule.ops;
    all[0].schedule.clear();
    all[0].scratch = 1;
    Op const copy = Op::copy(Place{Memory::output, 0}, Place{Memory::scratch, 0}, 1);
    auto const copied = all[0].schedule.add(copy, {});
    all[0].schedule.add(ops[0], {copied});
    all[0].schedule.add(ops[1], {});
    EXPECT_NE(first_fault(calls, all).find("may start before"), std::string::npos);
}

}  // namespace
}  // namespace sluice::collectives_damage_test
