// The library's choice of who sends, in which order and how many at once, on machines and patterns
// drawn from a seed, beside the best of what hints can force. `sluice bench exchange
// --choices` does the same for more of them.
#include "study/exchange/drawn.hpp"
#include "tests/unit/sanitizers.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_delivery_choice_test {
namespace {

using tools::ChoiceOutcome;

constexpr std::uint64_t scenarios = 16;
constexpr Rank ranks_most = 48;  // Sanitizers make it slow.
constexpr double close = 1.1;

/// Of the ways that hints can force, only a few are as safe: otherwise there would be nothing to
/// choose. With more ranks the choice is not always as close: `--choices` says how often.
TEST(SimulatedDeliveryChoice, IsWithinATenthOfTheBestAndFewSingleWaysAre) {
    SKIP_WITH_THREAD_SANITIZER();
    SKIP_OUTSIDE_SAMPLE();
    std::vector<double> worst(tools::forced_deliveries().size(), 1);
    for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
        ChoiceOutcome const found = tools::compare_choice(tools::drawn_scenario(seed, ranks_most));
        ASSERT_EQ(found.fault, "") << seed;
        ASSERT_EQ(found.forced.size(), worst.size());
        EXPECT_LE(found.ratio(), close)
            << "seed " << seed << ": " << found.choice << "; best: " << found.best_name;
        for (std::size_t i = 0; i < worst.size(); ++i)
            worst[i] = std::max(worst[i], found.forced[i] / found.best);
    }
    auto const safe =
        std::count_if(worst.begin(), worst.end(), [](double w) { return w <= close; });
    EXPECT_LE(safe, static_cast<std::ptrdiff_t>(worst.size()) / 4);
}

}  // namespace
}  // namespace sluice::simulation_delivery_choice_test
