// Process groups in the place of file domains, and the sketch that tells when nodes can go apart.
#include "file/plan/plan_cache.hpp"
#include "whole_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace sluice::groups_test {
namespace {

using testing::topology_of;

constexpr Bytes page = 4096, mebibyte = Bytes{1} << 20;

RC_GTEST_PROP(Groups, EachRankIsServedByAggregatorsOfItsOwnGroup, ()) {
    auto const locals = *rc::gen::inRange<Rank>(1, 100);
    auto const topology = topology_of(locals, locals);
    auto const groups =
        make_groups(topology, 0, *rc::gen::inRange(0, 80), *rc::gen::inRange(1, 80));
    RC_ASSERT(groups.count() >= 1 && groups.count() <= locals);
    std::set<Rank> ranks;
    for (std::int32_t a = 0; a < groups.count() * groups.aggregators_each; ++a) {
        Rank const local = groups.local_of_aggregator(a);
        RC_ASSERT(local < locals);
        RC_ASSERT(ranks.insert(local).second);  // Nobody serves twice.
        RC_ASSERT(groups.group_of_local(local) == groups.group_of_aggregator(a));
    }
    for (Rank local = 1; local < locals; ++local) {
        auto const step = groups.group_of_local(local) - groups.group_of_local(local - 1);
        RC_ASSERT(step == 0 || step == 1);
    }
    RC_ASSERT(groups.group_of_local(0) == 0);
    RC_ASSERT(groups.group_of_local(locals - 1) == groups.count() - 1);
}

RC_GTEST_PROP(Groups, DomainsCoverTheSpanOfTheirGroup, ()) {
    Groups groups;
    groups.node = 0, groups.local_count = 64;
    groups.aggregators_each = *rc::gen::inRange(1, 5);
    for (int g = *rc::gen::inRange(1, 5); g > 0; --g) {
        Offset const begin = *rc::gen::inRange<Offset>(0, 100 * page);
        groups.spans.push_back({begin, begin + *rc::gen::inRange<Bytes>(0, 100 * page)});
    }
    auto const domains = group_domains(groups, page);
    RC_ASSERT(domains.size() ==
              groups.spans.size() * static_cast<std::size_t>(groups.aggregators_each));
    for (std::int32_t g = 0; g < groups.count(); ++g) {
        Span const span = groups.spans[static_cast<std::size_t>(g)];
        Offset at = span.begin / page * page;
        for (std::int32_t i = 0; i < groups.aggregators_each; ++i) {
            Span const domain = domains[static_cast<std::size_t>(g * groups.aggregators_each + i)];
            if (domain.empty()) continue;
            RC_ASSERT(domain.begin == at);
            at = domain.end;
        }
        RC_ASSERT(span.empty() || at == span.end);
    }
}

/// Ranks of one node that take `piece` bytes in turn, from `begin` on.
Summary node_of_turns(Rank ranks, Offset begin, Bytes piece, Bytes row, std::int64_t rows) {
    Summary all;
    for (Rank r = 0; r < ranks; ++r) {
        Request request;
        std::vector<Run> const tile{{begin + r * piece, piece, 0, 1}};
        request.view.filetype = std::make_shared<Layout const>(tile, row);
        request.bytes = piece * rows;
        Summary const mine = summarise(request, {mebibyte, nullptr, true});
        all = r == 0 ? mine : merge(all, mine);
    }
    close_node(all);
    all.cb_buffer_bytes = mebibyte, all.cb_buffer_count = 4;
    return all;
}

RC_GTEST_PROP(Sketch, WhatTouchesIsOneStretch, ()) {
    auto const ranks = *rc::gen::inRange<Rank>(2, 20);
    auto const piece = *rc::gen::inRange<Bytes>(1, 5000);
    auto const begin = *rc::gen::inRange<Offset>(0, 1 << 30);
    auto const all = node_of_turns(ranks, begin, piece, ranks * piece, 50);
    RC_ASSERT(all.unsketched == 0);
    RC_ASSERT(all.stretches <= 2);  // Two borders in one counter may count for four.
}

/// The deviation of one estimate is a sixth; that of the mean of 200 is an 80th.
TEST(Sketch, CountsStretchesWithoutBias) {
    for (std::int64_t const rows : {3, 100, 5000}) {
        double sum = 0;
        for (int sample = 0; sample < 200; ++sample) {
            auto const all = node_of_turns(4, sample * 7919 + 1, 100 + sample, 12'345, rows);
            double const ratio = static_cast<double>(all.stretches) / static_cast<double>(rows);
            EXPECT_GT(ratio, 0.3);
            EXPECT_LT(ratio, 2);
            sum += ratio;
        }
        EXPECT_NEAR(sum / 200, 1, 0.08) << rows;
    }
}

TEST(Sketch, IsNotKnownOfTooManyPieces) {
    auto const all = node_of_turns(1, 0, 1, 2, 100'000);
    EXPECT_EQ(all.unsketched, 1);
}

/// Two nodes of two ranks that take turns in stretches of `stretch` bytes.
Plan plan_of_stretches(Bytes stretch, Hints hints = {}) {
    Summary all = merge(node_of_turns(2, 0, stretch / 2, 2 * stretch, 40),
                        node_of_turns(2, stretch, stretch / 2, 2 * stretch, 40));
    all.hints = hints;
    return make_plan(all, topology_of(4, 2), {4});
}

TEST(Groups, NodesGoApartWhereTheyWantLongStretches) {
    EXPECT_TRUE(plan_of_stretches(2 * mebibyte).needs_groups());
    EXPECT_EQ(plan_of_stretches(16 * page).division, Domains::even);
    Hints hints;
    hints.domains = Domains::even;
    EXPECT_EQ(plan_of_stretches(2 * mebibyte, hints).division, Domains::even);
    hints = {};
    hints.stripe_bytes = mebibyte, hints.stripe_count = 4;  // Its servers count more.
    EXPECT_EQ(plan_of_stretches(2 * mebibyte, hints).division, Domains::cyclic);
    hints = {};
    hints.aggregator_count = 1;  // Fewer than nodes.
    EXPECT_EQ(plan_of_stretches(2 * mebibyte, hints).division, Domains::even);
}

TEST(Groups, APlanIsMadeOfTheRecordsOfItsNode) {
    auto const topology = topology_of(8, 4);
    std::vector<Summary> records(4);
    Summary all;
    all.operation = 1, all.bytes = 1, all.cb_buffer_bytes = mebibyte, all.interleaved = 1;
    all.hints.domains = Domains::groups, all.hints.aggregator_count = 4;
    for (std::size_t r = 0; r < 4; ++r) {
        Offset const begin = static_cast<Offset>(r) * 100 * page;
        records[r].span = {begin, begin + 10 * page};
        all.span = {0, begin + 10 * page};
    }
    for (std::int32_t const groups : {1, 2, 4}) {
        all.hints.group_count = static_cast<std::uint8_t>(groups);
        Plan plan = make_plan(all, topology, {4});
        ASSERT_TRUE(plan.needs_groups());
        divide_by_groups(plan, all, topology, 1, records, 4, nullptr);
        EXPECT_FALSE(plan.needs_groups());
        EXPECT_EQ(plan.groups.count(), groups);
        EXPECT_EQ(plan.aggregator_count(), std::max(2, groups));  // Four on two nodes.
        EXPECT_EQ(plan.wanted(plan.aggregator_count() - 1).end, all.span.end);
        for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
            EXPECT_EQ(topology.node_of(aggregator(topology, plan, a)), 1);
            EXPECT_EQ(local_aggregator(topology, plan, 1, a), aggregator(topology, plan, a));
        }
        Plan const further = shifted(plan, page);
        EXPECT_EQ(further.wanted(0).begin, plan.wanted(0).begin + page);
        EXPECT_NE(describe(plan).find("by groups: " + std::to_string(groups) + " on node 1"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace sluice::groups_test
