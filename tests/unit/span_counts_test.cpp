// Spans that overlap, against a count for each place.
#include "base/span_counts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace sluice::span_counts_test {
namespace {

TEST(SpanCounts, OverlappingSpansShareTheirMiddle) {
    SpanCounts counts;
    std::vector<Span> told;
    auto const tell = [&](Span span) { told.push_back(span); };
    counts.add({10, 20}, tell);
    counts.add({15, 30}, tell);
    EXPECT_EQ(told, (std::vector<Span>{{10, 20}, {20, 30}}));
    told.clear();
    counts.remove({10, 20}, tell);
    counts.remove({15, 30}, tell);
    EXPECT_EQ(told, (std::vector<Span>{{10, 15}, {15, 30}}));
    EXPECT_TRUE(counts.empty());
}

TEST(SpanCounts, ASpanMayFillGapsBetweenOthers) {
    SpanCounts counts;
    std::vector<Span> told;
    auto const tell = [&](Span span) { told.push_back(span); };
    counts.add({0, 2}, tell);
    counts.add({4, 6}, tell);
    counts.add({8, 10}, tell);
    told.clear();
    counts.add({0, 12}, tell);
    EXPECT_EQ(told, (std::vector<Span>{{2, 4}, {6, 8}, {10, 12}}));
    counts.add({5, 5}, tell);
    counts.remove({5, 5}, tell);
    EXPECT_EQ(told.size(), 3);
}

constexpr Offset places = 24;

void mark(std::vector<int>& all, Span span, int with) {
    for (Offset at = span.begin; at < span.end; ++at) all[static_cast<std::size_t>(at)] += with;
}

RC_GTEST_PROP(SpanCounts, TellWhatAModelFinds, ()) {
    SpanCounts counts;
    std::vector<Span> held;
    std::vector<int> model(places), locked(places);
    bool apart = true;
    auto const steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) {
        std::set<Offset> begins;
        auto const change = [&](int with) {
            return [&, with](Span span) {
                RC_ASSERT(!span.empty());
                apart = apart && begins.insert(span.begin).second && !begins.contains(span.end);
                mark(locked, span, with);
            };
        };
        if (held.empty() || *rc::gen::inRange(0, 3) > 0) {
            auto const begin = *rc::gen::inRange<Offset>(0, places);
            Span const span{begin, *rc::gen::inRange<Offset>(begin, places + 1)};
            held.push_back(span);
            mark(model, span, 1);
            counts.add(span, change(1));
        } else {
            auto const at = held.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(held));
            Span const span = *at;
            held.erase(at);
            mark(model, span, -1);
            counts.remove(span, change(-1));
        }
        for (std::size_t i = 0; i < model.size(); ++i)
            RC_ASSERT(locked[i] == (model[i] > 0 ? 1 : 0));
    }
    RC_ASSERT(apart);
    while (!held.empty()) {
        counts.remove(held.back(), [](Span) {});
        held.pop_back();
    }
    RC_ASSERT(counts.empty());
}

}  // namespace
}  // namespace sluice::span_counts_test
