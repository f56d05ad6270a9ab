// Property tests of domains, their windows and weights, against lists of single bytes.
#include "file/plan/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace sluice::domains_test {
namespace {

constexpr Bytes page = 4096;

struct Drawn {
    Span span;
    Bytes unit = 1;
    std::int64_t count = 1;
    Cutting cutting;
    std::vector<Span> domains;
};

/// Small numbers, so that single bytes can be looked at.
Drawn draw(Domains division) {
    Drawn d;
    d.span.begin = *rc::gen::inRange<Offset>(0, 300);
    d.span.end = d.span.begin + *rc::gen::inRange<Offset>(1, 900);
    d.unit = *rc::gen::inRange<Bytes>(1, 60);
    d.count = *rc::gen::inRange<std::int64_t>(1, 9);
    d.cutting.window_bytes = *rc::gen::inRange<Bytes>(1, 90);
    if (division == Domains::even) d.domains = even_domains(d.span, d.count, d.unit);
    if (division == Domains::balanced) {
        Weights weights;
        for (Bytes& bytes : weights.bytes) bytes = *rc::gen::inRange<Bytes>(0, 20);
        d.domains = balanced_domains(d.span, weights, d.count, d.unit);
    }
    if (division == Domains::cyclic) {
        d.domains = cyclic_domains(d.span, d.count, d.unit);
        d.cutting.stripe_bytes = d.unit;
        d.cutting.row_bytes = d.unit * d.count;
    }
    return d;
}

constexpr Domains all_divisions[] = {Domains::even, Domains::cyclic, Domains::balanced};

/// How often each byte of the file lies in a part of a window.
std::vector<int> windows_over(Drawn const& d) {
    std::vector<int> times(static_cast<std::size_t>(d.span.end));
    for (Span const& domain : d.domains) {
        for (std::int64_t c = 0; c < d.cutting.round_count(domain); ++c) {
            Window const window = d.cutting.window(domain, c);
            Bytes bytes = 0;
            for (std::int64_t i = 0; i < window.part_count; ++i) {
                Span const part = window.part(i);
                RC_ASSERT(!part.empty());
                RC_ASSERT(part.end <= d.span.end);
                RC_ASSERT(window.place(i) == bytes);
                for (Offset at = part.begin; at < part.end; ++at) {
                    ++times[static_cast<std::size_t>(at)];
                }
                bytes += part.bytes();
            }
            RC_ASSERT(window.bytes() == bytes);
            RC_ASSERT(bytes <= d.cutting.window_bytes);
        }
    }
    return times;
}

RC_GTEST_PROP(Domains, WindowsTileTheSpanExactlyOnce, ()) {
    for (Domains const division : all_divisions) {
        Drawn const d = draw(division);
        auto const times = windows_over(d);
        Offset const begin = d.span.begin / d.unit * d.unit;
        for (Offset at = begin; at < d.span.end; ++at) {
            RC_ASSERT(times[static_cast<std::size_t>(at)] == 1);
        }
        RC_ASSERT(std::accumulate(times.begin(), times.end(), Bytes{0}) == d.span.end - begin);
    }
}

RC_GTEST_PROP(Domains, AStripeBelongsToItsNumberModuloTheCount, ()) {
    Drawn const d = draw(Domains::cyclic);
    RC_ASSERT(static_cast<std::int64_t>(d.domains.size()) == d.count);
    for (std::int64_t a = 0; a < d.count; ++a) {
        Span const domain = d.domains[static_cast<std::size_t>(a)];
        for (std::int64_t c = 0; c < d.cutting.round_count(domain); ++c) {
            Window const window = d.cutting.window(domain, c);
            for (std::int64_t i = 0; i < window.part_count; ++i) {
                Span const part = window.part(i);
                RC_ASSERT(part.begin / d.unit % d.count == a);
                RC_ASSERT((part.end - 1) / d.unit == part.begin / d.unit);
            }
        }
    }
}

RC_GTEST_PROP(Domains, AWindowHoldsAsManyStripesAsFit, ()) {
    Drawn const d = draw(Domains::cyclic);
    auto const fit = std::max<std::int64_t>(1, d.cutting.window_bytes / d.unit);
    for (Span const& domain : d.domains) {
        auto const rounds = d.cutting.round_count(domain);
        if (d.unit > d.cutting.window_bytes) continue;
        for (std::int64_t c = 0; c + 1 < rounds; ++c) {
            RC_ASSERT(d.cutting.window(domain, c).part_count == fit);
        }
    }
}

TEST(Domains, CyclicAggregatorsFitTheServers) {
    EXPECT_EQ(cyclic_count(7, 0), 7);
    EXPECT_EQ(cyclic_count(7, 4), 4);
    EXPECT_EQ(cyclic_count(9, 4), 8);
    EXPECT_EQ(cyclic_count(3, 4), 2);
    EXPECT_EQ(cyclic_count(5, 12), 4);
    EXPECT_EQ(cyclic_count(4, 7), 1);
}

// ---- Weights -----------------------------------------------------------------------------------

Request draw_request() {
    Request r;
    Bytes const length = *rc::gen::inRange<Bytes>(1, 20);
    Offset const extent = length + *rc::gen::inRange<Offset>(0, 40);
    r.view.filetype = std::make_shared<Layout const>(std::vector<Run>{{0, length, 0, 1}}, extent);
    r.view.displacement = *rc::gen::inRange<Offset>(0, 500);
    r.position = *rc::gen::inRange<Bytes>(0, 30);
    r.bytes = *rc::gen::inRange<Bytes>(0, 300);
    return r;
}

bool wants(Request const& r, Offset at) { return positions_in(r, {at, at + 1}).bytes() == 1; }

RC_GTEST_PROP(Weights, EachByteOfARequestWeighsOnce, ()) {
    Request const r = draw_request();
    Span span = span_of(r);
    span.begin -= *rc::gen::inRange<Offset>(0, 200);
    span.end += *rc::gen::inRange<Offset>(1, 200);
    Weights const weights = weigh(r, span);
    Bytes const share = (span.bytes() + 63) / 64;
    std::array<Bytes, 64> counted{};
    for (Offset at = span.begin; at < span.end; ++at) {
        counted[static_cast<std::size_t>((at - span.begin) / share)] += wants(r, at) ? 1 : 0;
    }
    RC_ASSERT(weights.bytes == counted);
    RC_ASSERT(std::accumulate(counted.begin(), counted.end(), Bytes{0}) == r.bytes);
}

RC_GTEST_PROP(Weights, MergedTheyAreThoseOfBoth, ()) {
    Request const one = draw_request(), two = draw_request();
    Span const span{0, 3000};
    Weights both = weigh(one, span);
    both += weigh(two, span);
    for (std::size_t i = 0; i < Weights::share_count; ++i) {
        RC_ASSERT(both.bytes[i] == weigh(one, span).bytes[i] + weigh(two, span).bytes[i]);
    }
}

RC_GTEST_PROP(Weights, BordersGrowAndNoShareIsMissedByMoreThanOne, ()) {
    Weights weights;
    for (Bytes& bytes : weights.bytes) bytes = *rc::gen::inRange<Bytes>(0, 1000);
    auto const total = std::accumulate(weights.bytes.begin(), weights.bytes.end(), Bytes{0});
    auto const count = *rc::gen::inRange<std::int64_t>(1, 65);
    Span const span{77, 77 + 64 * 100};
    Offset before = span.begin;
    for (std::int64_t k = 0; k <= count; ++k) {
        Offset const border = border_of(weights, span, k, count);
        RC_ASSERT(border >= before);
        RC_ASSERT(border <= span.end);
        before = border;
        double weight = 0;
        for (std::size_t i = 0; i < 64; ++i) {
            auto const first = span.begin + static_cast<Offset>(i) * 100;
            auto const part = std::clamp<Offset>(border - first, 0, 100);
            weight += static_cast<double>(weights.bytes[i] * part) / 100;
        }
        auto const wanted = static_cast<double>(total * k) / static_cast<double>(count);
        RC_ASSERT(weight <= wanted + 1);
        RC_ASSERT(weight >= wanted - 11);  // A byte of a share of 100 bytes weighs up to 10.
    }
}

Weights drawn_weights() {
    Weights weights;
    for (Bytes& bytes : weights.bytes) bytes = *rc::gen::inRange<Bytes>(0, 1000);
    weights.bytes[*rc::gen::inRange<std::size_t>(0, 64)] += *rc::gen::inRange<Bytes>(1, 100000);
    return weights;
}

/// Against the bytes of the parts, counted one by one in a span whose shares are 60 bytes long.
RC_GTEST_PROP(Weights, TheFullestPartIsThatWithTheMostBytes, ()) {
    Weights const weights = drawn_weights();
    constexpr std::size_t lengths = 60;
    auto const parts = *rc::gen::element<std::size_t>(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64);
    std::vector<double> part(parts);
    double total = 0;
    for (std::size_t i = 0; i < 64 * lengths; ++i) {
        double const bytes = static_cast<double>(weights.bytes[i / lengths]) / lengths;
        part[i * parts / (64 * lengths)] += bytes;
        total += bytes;
    }
    double const expected =
        *std::max_element(part.begin(), part.end()) * static_cast<double>(parts) / total;
    double const found = fullest_part(weights, static_cast<double>(parts));
    RC_LOG() << parts << " parts: " << found << ", expected " << expected << "\n";
    RC_ASSERT(std::abs(found - expected) <= 1e-6 * expected);
}

RC_GTEST_PROP(Weights, TheFullestPartHasAnEqualShareAtLeastAndAllAtMost, ()) {
    Weights const weights = drawn_weights();
    double const parts = *rc::gen::inRange(1, 200);
    double const fullest = fullest_part(weights, parts);
    RC_ASSERT(fullest >= 1 && fullest <= std::min(parts, 64.0) * (1 + 1e-9));
    RC_ASSERT(fullest_part(weights, 2 * parts) >= fullest * (1 - 1e-9) || parts > 32);
}

TEST(Weights, AFullestPartOfEvenOrCrowdedBytes) {
    for (double const parts : {1, 2, 3, 7, 64}) {
        EXPECT_NEAR(fullest_part(Weights::even(), parts), 1, 1e-9);
        EXPECT_EQ(fullest_part(Weights{}, parts), 1) << "nothing is wanted";
    }
    EXPECT_NEAR(fullest_part(Weights::crowded(0.25), 2), 2, 1e-9);
    EXPECT_NEAR(fullest_part(Weights::crowded(0.25), 8), 4, 1e-9);
    EXPECT_NEAR(fullest_part(Weights::crowded(1e-9), 64), 64, 1e-9);
    EXPECT_NEAR(fullest_part(Weights::crowded(1), 5), 1, 1e-9);
}

TEST(Weights, NoSumOverflows) {
    Weights weights;
    weights.bytes.fill(Bytes{1} << 55);
    Span const span{0, Bytes{1} << 60};
    EXPECT_EQ(border_of(weights, span, 32, 64), Bytes{1} << 59);
    EXPECT_EQ(border_of(weights, span, 63, 64), (Bytes{1} << 60) - (Bytes{1} << 54));
}

TEST(Weights, DomainsHoldEqualBytesWhereEvenOnesDoNot) {
    Weights weights;  // All in the first eighth of the span.
    for (std::size_t i = 0; i < 8; ++i) weights.bytes[i] = page;
    Span const span{0, 64 * page};
    auto const domains = balanced_domains(span, weights, 4, page);
    std::vector<Span> const expected{
        {0, 2 * page}, {2 * page, 4 * page}, {4 * page, 6 * page}, {6 * page, 64 * page}};
    EXPECT_EQ(domains, expected);
}

// ---- Plans -------------------------------------------------------------------------------------

Summary summary_of(Span span) {
    Summary s;
    s.operation = 1;
    s.span = span;
    s.bytes = span.bytes();
    s.interleaved = 1;
    s.cb_buffer_bytes = Bytes{1} << 20;
    s.cb_buffer_count = 4;
    return s;
}

Topology const& four_ranks() {
    static Topology const topology({0, 0, 1, 1});
    return topology;
}

TEST(Division, StripesKnownFromTheFileAreTakenInTurn) {
    Summary all = summary_of({0, Bytes{64} << 20});
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::even);
    all.hints.stripe_bytes = Bytes{1} << 20;
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::even);
    all.hints.stripe_count = 2;
    Plan const plan = make_plan(all, four_ranks(), {4});
    EXPECT_EQ(plan.division, Domains::cyclic);
    EXPECT_EQ(plan.aggregator_count(), 4);
    EXPECT_EQ(plan.stripe_bytes, Bytes{1} << 20);
    EXPECT_EQ(make_plan(all, four_ranks(), {3}).aggregator_count(), 2);
    all.hints.domains = Domains::even;
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::even);
}

TEST(Division, CyclicNeedsSeveralStripesAndAggregators) {
    Summary all = summary_of({0, 3 * page});
    all.hints.domains = Domains::cyclic;
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::even);
    all.hints.aggregator_count = 3;
    all.hints.stripe_bytes = page;
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::cyclic);
    all.hints.stripe_bytes = 3 * page;
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::even);
    all.hints.stripe_bytes = endless;
    EXPECT_EQ(make_plan(all, four_ranks(), {4}).division, Domains::even);
}

TEST(Division, BalancedDomainsWaitForTheWeights) {
    Summary all = summary_of({0, 64 * page});
    all.hints.domains = Domains::balanced;
    all.hints.aggregator_count = 2;
    EXPECT_TRUE(decide(all, four_ranks(), {4}).needs_weights);
    EXPECT_TRUE(make_plan(all, four_ranks(), {4}).domains.empty());
    Weights weights;
    weights.bytes[3] = 1;
    weights.bytes[60] = 1;
    Plan const plan = make_plan(all, four_ranks(), {4}, &weights);
    EXPECT_FALSE(decide(all, four_ranks(), {4}, &weights).needs_weights);
    EXPECT_EQ(plan.domains, (std::vector<Span>{{0, 4 * page}, {4 * page, 64 * page}}));
    all.hints.aggregator_count = 1;
    EXPECT_FALSE(decide(all, four_ranks(), {4}).needs_weights);
}

TEST(Division, ItsTextSaysIt) {
    Summary all = summary_of({page, 9 * page});
    all.hints.stripe_bytes = page;
    all.hints.aggregator_count = 2;
    all.hints.domains = Domains::cyclic;
    std::string const text = describe(make_plan(all, four_ranks(), {4}));
    EXPECT_NE(text.find("stripes of 4096 bytes in turn"), std::string::npos) << text;
    EXPECT_NE(text.find("aggregator 0: [8192, 36864) in 1 rounds"), std::string::npos) << text;
    EXPECT_NE(text.find("aggregator 1: [4096, 32768) in 1 rounds"), std::string::npos) << text;
}

}  // namespace
}  // namespace sluice::domains_test
