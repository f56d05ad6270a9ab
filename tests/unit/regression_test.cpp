// Medians and straight lines: found again in made-up measurements, whatever outliers say.
#include "bench/measure/regression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace sluice::regression_test {
namespace {

TEST(Median, OfFewValues) {
    EXPECT_EQ(median_of({}), 0);
    EXPECT_EQ(median_of({3}), 3);
    EXPECT_EQ(median_of({5, 1}), 3);
    EXPECT_EQ(median_of({9, 1, 2}), 2);
}

TEST(Low, IsTheEndOfTheFirstShare) {
    EXPECT_EQ(low_of({}), 0);
    EXPECT_EQ(low_of({3}), 3);
    EXPECT_EQ(low_of({4, 3, 2, 1}), 1);
    EXPECT_EQ(low_of({5, 4, 3, 2, 1}), 2);
    EXPECT_EQ(low_of({5, 4, 3, 2, 1}, 0), 1);
    EXPECT_EQ(low_of({5, 4, 3, 2, 1}, 1), 5);
}

RC_GTEST_PROP(Low, IsNotAboveTheMedian, (std::vector<double> values)) {
    RC_PRE(!values.empty());
    RC_ASSERT(low_of(values) <= median_of(values));
    RC_ASSERT(std::count(values.begin(), values.end(), low_of(values)) > 0);
}

RC_GTEST_PROP(Median, LeavesAsManyBelowAsAbove, (std::vector<double> values)) {
    RC_PRE(!values.empty());
    double const middle = median_of(values);
    auto const below =
        std::count_if(values.begin(), values.end(), [&](double v) { return v < middle; });
    auto const above =
        std::count_if(values.begin(), values.end(), [&](double v) { return v > middle; });
    RC_ASSERT(2 * below <= static_cast<std::ptrdiff_t>(values.size()));
    RC_ASSERT(2 * above <= static_cast<std::ptrdiff_t>(values.size()));
}

RC_GTEST_PROP(Line, IsFoundAgain, ()) {
    double const start = *rc::gen::inRange(1, 1000) * 1e-7;
    double const each = *rc::gen::inRange(1, 1000) * 1e-11;
    std::vector<Sample> samples;
    for (double amount = 8; amount < 1e7; amount *= 8)
        samples.push_back({amount, start + each * amount});
    StraightLine const line = line_through(samples);
    RC_ASSERT(std::abs(line.start - start) < 1e-6 * start);
    RC_ASSERT(std::abs(line.each - each) < 1e-6 * each);
}

TEST(Line, OutliersDoNotBendIt) {
    std::vector<Sample> samples;
    for (double const amount : {8.0, 4096.0, 65536.0, 1048576.0}) {
        double const seconds = 5e-6 + 2e-10 * amount;
        for (int i = 0; i < 9; ++i)
            samples.push_back({amount, i % 3 == 0 ? 50 * seconds : seconds});
    }
    StraightLine const line = line_through(medians_of(samples));
    EXPECT_NEAR(line.start, 5e-6, 1e-10);
    EXPECT_NEAR(line.each, 2e-10, 1e-14);
}

TEST(Line, NeitherPartIsNegative) {
    Sample const falling[] = {{1, 3}, {2, 2}, {3, 1}};
    EXPECT_EQ(line_through(falling).each, 0);
    EXPECT_GT(line_through(falling).start, 1);
    Sample const steep[] = {{1, 1}, {2, 3}, {3, 5}};
    EXPECT_EQ(line_through(steep).start, 0);
    EXPECT_GT(line_through(steep).each, 1);
}

TEST(Line, OfTooFewSamples) {
    EXPECT_EQ(line_through({}).start, 0);
    Sample const one[] = {{8, 2}}, same[] = {{8, 1}, {8, 1}}, none[] = {{8, 0}, {9, 0}};
    EXPECT_EQ(line_through(one).start, 2);
    EXPECT_EQ(line_through(same).start, 1);
    EXPECT_EQ(line_through(none).each, 0);
}

}  // namespace
}  // namespace sluice::regression_test
