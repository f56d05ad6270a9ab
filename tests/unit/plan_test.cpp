// Property tests of summaries and plans: the decisions that every rank must make alike.
#include "file/plan/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>

namespace sluice::plan_test {
namespace {

constexpr Bytes page = 4096;

Topology topology_of(Rank ranks, Rank per_node) {
    std::vector<std::int32_t> names;
    for (Rank r = 0; r < ranks; ++r) names.push_back(r / per_node);
    return Topology(names);
}

Hints draw_hints() {
    Hints h;
    if (*rc::gen::arbitrary<bool>()) h.window_bytes = *rc::gen::inRange<Bytes>(1, 1 << 22);
    if (*rc::gen::arbitrary<bool>()) h.stripe_bytes = *rc::gen::inRange<Bytes>(1, 1 << 21);
    if (*rc::gen::arbitrary<bool>()) h.aggregator_count = *rc::gen::inRange(1, 12);
    return h;
}

/// A merged summary that asks for a two-phase exchange.
Summary draw_summary() {
    Summary s;
    s.operation = static_cast<std::uint32_t>(*rc::gen::inRange(1, 3));
    s.span.begin = *rc::gen::inRange<Offset>(0, 1 << 24);
    s.span.end = s.span.begin + *rc::gen::inRange<Offset>(1, 1 << 24);
    s.bytes = s.span.bytes();
    s.pieces = 10;
    s.interleaved = 1;
    Offset const unit = Offset{1} << *rc::gen::inRange(0, 14);
    s.span.begin = s.span.begin / unit * unit;
    s.span.end = (s.span.end + unit - 1) / unit * unit;
    s.alignment = static_cast<std::uint64_t>(s.span.begin | s.span.end | unit);
    s.cb_buffer_bytes = *rc::gen::inRange<Bytes>(page, 1 << 22);
    s.cb_buffer_count = *rc::gen::inRange(1, 5);
    s.hints = draw_hints();
    s.hints.write = s.hints.read = Strategy::two_phase;
    return s;
}

struct Drawn {
    Summary all = draw_summary();
    Topology topology = topology_of(*rc::gen::inRange(1, 20), *rc::gen::inRange(1, 5));
    Plan plan = make_plan(all, topology, {*rc::gen::inRange(1, 9)});
};

RC_GTEST_PROP(Plan, DomainsCoverTheSpanInOrderWithoutOverlap, ()) {
    Drawn const d;
    RC_ASSERT(d.plan.strategy == Strategy::two_phase);
    RC_ASSERT(!d.plan.domains.empty());
    RC_ASSERT(d.plan.domains.front().begin <= d.all.span.begin);
    RC_ASSERT(d.plan.domains.back().end == d.all.span.end);
    for (std::size_t a = 0; a < d.plan.domains.size(); ++a) {
        RC_ASSERT(!d.plan.domains[a].empty());
        if (a > 0) RC_ASSERT(d.plan.domains[a].begin == d.plan.domains[a - 1].end);
    }
    RC_ASSERT(d.plan.aggregator_count() <= d.topology.aggregator_count_max());
}

RC_GTEST_PROP(Plan, BordersAreMultiplesOfPageAndStripe, ()) {
    Drawn const d;
    Bytes const unit = std::max(page, d.all.hints.stripe_bytes);
    for (Span const& domain : d.plan.domains) RC_ASSERT(domain.begin % unit == 0);
    RC_ASSERT(d.all.span.begin - d.plan.domains.front().begin < unit);
}

RC_GTEST_PROP(Plan, WindowsTileEachDomain, ()) {
    Drawn const d;
    for (std::int32_t a = 0; a < d.plan.aggregator_count(); ++a) {
        Span const domain = d.plan.domains[static_cast<std::size_t>(a)];
        Offset reached = domain.begin;
        auto const rounds = d.plan.round_count(a);
        for (std::int64_t c : {std::int64_t{0}, rounds / 2, rounds - 1}) {
            Span const window = d.plan.window(a, c).part(0);
            RC_ASSERT(window.begin == domain.begin + c * d.plan.window_bytes);
            RC_ASSERT(!window.empty());
            RC_ASSERT(window.bytes() <= d.plan.window_bytes);
            RC_ASSERT(c + 1 == rounds || window.bytes() == d.plan.window_bytes);
            reached = window.end;
        }
        RC_ASSERT(reached == domain.end);
    }
    RC_ASSERT(d.plan.round_count(d.plan.aggregator_count()) == 0);
}

RC_GTEST_PROP(Plan, AWindowFitsIntoACbBuffer, ()) {
    Drawn const d;
    RC_ASSERT(d.plan.window_bytes >= page);
    RC_ASSERT(d.plan.window_bytes <= d.all.cb_buffer_bytes);
    RC_ASSERT(d.plan.window_bytes % page == 0);
    RC_ASSERT(d.plan.cb_buffer_count == d.all.cb_buffer_count);
}

RC_GTEST_PROP(Plan, TheGranuleDividesAllOffsets, ()) {
    Drawn const d;
    Bytes const granule = d.plan.granule_bytes;
    RC_ASSERT(std::has_single_bit(static_cast<std::uint64_t>(granule)));
    RC_ASSERT(granule <= page);
    RC_ASSERT(d.all.alignment % static_cast<std::uint64_t>(granule) == 0);
    RC_ASSERT(d.plan.window_bytes % granule == 0);
    for (Span const& domain : d.plan.domains) {
        RC_ASSERT(domain.begin % granule == 0);
        RC_ASSERT(domain.end % granule == 0);
    }
}

RC_GTEST_PROP(Plan, HintsBoundTheWindowAndTheAggregators, ()) {
    Drawn const d;
    if (Bytes const wish = d.all.hints.window_bytes; wish > 0) {
        RC_ASSERT(d.plan.window_bytes < std::max(wish, page) + page);
    }
    if (std::int32_t const wish = d.all.hints.aggregator_count; wish > 0) {
        RC_ASSERT(d.plan.aggregator_count() <= wish);
    }
}

// ---- Summaries ---------------------------------------------------------------------------------

Request draw_request() {
    Request r;
    r.direction = *rc::gen::arbitrary<bool>() ? Direction::write : Direction::read;
    Bytes const length = *rc::gen::inRange<Bytes>(1, 20);
    Offset const extent = length + *rc::gen::inRange<Offset>(0, 100);
    r.view.filetype = std::make_shared<Layout const>(std::vector<Run>{{0, length, 0, 1}}, extent);
    r.view.displacement = *rc::gen::inRange<Offset>(0, 5000);
    r.bytes = *rc::gen::inRange<Bytes>(0, 300);
    return r;
}

Summary draw_rank_summary() {
    Summary s = summarise(draw_request());
    s.status = static_cast<Status>(*rc::gen::inRange(0, 8));
    s.cb_buffer_bytes = *rc::gen::inRange<Bytes>(0, 1 << 20);
    s.cb_buffer_count = *rc::gen::inRange(1, 9);
    s.end_of_file = *rc::gen::inRange<Offset>(0, 9999);
    s.pending = *rc::gen::arbitrary<bool>();
    return s;
}

/// Merges [begin, end) with a drawn tree.
Summary merge_in_any_grouping(std::vector<Summary> const& all, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return all[begin];
    std::size_t const cut = *rc::gen::inRange(begin + 1, end);
    return merge(merge_in_any_grouping(all, begin, cut), merge_in_any_grouping(all, cut, end));
}

std::vector<Summary> draw_ranks(bool same_hints) {
    std::vector<Summary> all;
    auto const ranks = *rc::gen::inRange<std::size_t>(1, 10);
    for (std::size_t r = 0; r < ranks; ++r) {
        all.push_back(draw_rank_summary());
        if (!same_hints) all.back().hints.aggregator_count = *rc::gen::inRange(0, 2);
    }
    return all;
}

RC_GTEST_PROP(Summary, AnyGroupingOfRanksMergesToTheSame, ()) {
    bool const same_hints = *rc::gen::arbitrary<bool>();
    auto const all = draw_ranks(same_hints);
    Summary const one = merge_in_any_grouping(all, 0, all.size());
    Summary const two = merge_in_any_grouping(all, 0, all.size());
    RC_ASSERT(one == two);
    RC_ASSERT(one.hints == all.front().hints);
    RC_ASSERT(one.ranks == all.size());
}

RC_GTEST_PROP(Summary, MergedItAddsUpAndTakesTheWorst, ()) {
    auto const all = draw_ranks(true);
    Summary const one = merge_in_any_grouping(all, 0, all.size());
    Bytes bytes = 0;
    bool mixed = false;
    for (Summary const& s : all) {
        bytes += s.bytes;
        mixed |= s.operation != all.front().operation;
        RC_ASSERT(s.span.empty() || clip(s.span, one.span) == s.span);
        RC_ASSERT(one.cb_buffer_bytes <= s.cb_buffer_bytes);
        RC_ASSERT(one.cb_buffer_count <= s.cb_buffer_count);
        RC_ASSERT(one.end_of_file <= s.end_of_file);
        RC_ASSERT(agreed(one.status, s.status) == one.status);
        RC_ASSERT((one.alignment & s.alignment) == s.alignment);
    }
    RC_ASSERT(one.bytes == bytes);
    if (mixed) RC_ASSERT(agreed(one.status, Status::mismatch) == one.status);
    RC_ASSERT(one.hints_differ == 0);
}

Summary contiguous_part(Offset begin, Offset end) {
    Request r;
    r.view.displacement = begin;
    r.bytes = end - begin;
    return summarise(r);
}

TEST(Summary, RanksThatFollowEachOtherDoNotInterleave) {
    auto all = contiguous_part(0, 100);
    for (Offset at = 100; at < 900; at += 100) all = merge(all, contiguous_part(at, at + 100));
    EXPECT_EQ(all.interleaved, 0);
    EXPECT_EQ(all.span, (Span{0, 900}));
    EXPECT_EQ(all.bytes, 900);
}

TEST(Summary, RanksWithNothingBetweenDoNotInterleave) {
    auto const none = contiguous_part(0, 0);
    auto const all =
        merge(merge(none, contiguous_part(50, 60)), merge(none, contiguous_part(60, 70)));
    EXPECT_EQ(all.interleaved, 0);
    EXPECT_EQ(all.span, (Span{50, 70}));
}

TEST(Summary, AHigherRankThatBeginsBeforeALowerEndsInterleaves) {
    EXPECT_EQ(merge(contiguous_part(0, 100), contiguous_part(99, 120)).interleaved, 1);
    EXPECT_EQ(merge(contiguous_part(50, 100), contiguous_part(0, 50)).interleaved, 1);
}

TEST(Plan, HintsDecideTheStrategy) {
    Topology const topology = topology_of(4, 2);
    Summary all = merge(contiguous_part(0, 100), contiguous_part(50, 120));
    all.cb_buffer_bytes = 1 << 20, all.cb_buffer_count = 4;
    EXPECT_EQ(make_plan(all, topology, {}).strategy, Strategy::two_phase);
    all.hints.write = Strategy::independent;
    EXPECT_EQ(make_plan(all, topology, {}).strategy, Strategy::independent);
    EXPECT_TRUE(make_plan(all, topology, {}).domains.empty());
    all.operation = 2;  // The hint for writes says nothing about reads.
    EXPECT_EQ(make_plan(all, topology, {}).strategy, Strategy::two_phase);
    all.cb_buffer_bytes = page - 1;
    EXPECT_EQ(make_plan(all, topology, {}).strategy, Strategy::independent);
}

TEST(Plan, NothingToExchangeNeedsNoAggregator) {
    auto const plan = make_plan(contiguous_part(0, 0), topology_of(4, 2), {4});
    EXPECT_EQ(plan.aggregator_count(), 0);
    EXPECT_EQ(plan.strategy, Strategy::independent);
}

TEST(Plan, ASmallFileIsServedByOneAggregatorUnlessAHintAsks) {
    Summary all = merge(contiguous_part(0, 9000), contiguous_part(50, 90'000));
    all.cb_buffer_bytes = 1 << 20;
    EXPECT_EQ(make_plan(all, topology_of(8, 2), {4}).aggregator_count(), 1);
    all.hints.aggregator_count = 3;
    EXPECT_EQ(make_plan(all, topology_of(8, 2), {4}).aggregator_count(), 3);
    EXPECT_EQ(make_plan(all, topology_of(2, 2), {4}).aggregator_count(), 2);
}

TEST(Plan, ItsTextNamesEveryDomain) {
    Summary all = merge(contiguous_part(0, 9000), contiguous_part(50, 90'000));
    all.cb_buffer_bytes = 1 << 16, all.cb_buffer_count = 4;
    all.hints.aggregator_count = 2;
    std::string const text = describe(make_plan(all, topology_of(8, 2), {4}));
    EXPECT_NE(text.find("write two-phase: ranks interleave in the file"), std::string::npos);
    EXPECT_NE(text.find("aggregator 1: [45056, 90000) in 1 rounds"), std::string::npos);
}

}  // namespace
}  // namespace sluice::plan_test
