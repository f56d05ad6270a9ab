// Property test of the index of spans, against a list of which each is looked at.
#include "base/span_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::span_index_test {
namespace {

struct Listed {
    Span span;
    int value;
};

Span any_span() {
    Offset const begin = *rc::gen::inRange<Offset>(0, 60);
    return {begin, begin + *rc::gen::inRange<Offset>(0, 20)};
}

std::vector<int> touching(std::vector<Listed> const& list, Span reach) {
    std::vector<int> found;
    for (Listed const& each : list)
        if (!clip(each.span, reach).empty()) found.push_back(each.value);
    return found;
}

RC_GTEST_PROP(SpanIndex, FindsWhatAListFinds, ()) {
    SpanIndex<int> index;
    std::vector<Listed> list;
    int const steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
        if (!list.empty() && *rc::gen::arbitrary<bool>()) {
            auto const which =
                list.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(list));
            index.remove(which->span, which->value);
            list.erase(which);
        } else {
            list.push_back({any_span(), i});
            index.add(list.back().span, i);
        }
        RC_ASSERT(index.size() == list.size());
        Offset end = 0;
        for (Listed const& each : list) end = std::max(end, each.span.end);
        RC_ASSERT(index.end() == end);
        Span const reach = any_span();
        auto found = index.touching(reach), expected = touching(list, reach);
        std::ranges::sort(found);
        std::ranges::sort(expected);
        RC_ASSERT(found == expected);
    }
}

TEST(SpanIndex, FindsEverythingInAllBytes) {
    SpanIndex<int> index;
    index.add({0, 1}, 1);
    index.add({endless - 1, endless}, 2);
    EXPECT_EQ(index.touching({0, endless}), (std::vector<int>{1, 2}));
    EXPECT_EQ(index.touching({1, endless - 1}), std::vector<int>{});
    EXPECT_EQ(index.end(), endless);
}

TEST(SpanIndex, LeavesAloneWhatIsNotThere) {
    SpanIndex<int> index;
    index.add({0, 4}, 1);
    index.remove({0, 4}, 2);
    index.remove({1, 4}, 1);
    EXPECT_EQ(index.size(), 1U);
}

}  // namespace
}  // namespace sluice::span_index_test
