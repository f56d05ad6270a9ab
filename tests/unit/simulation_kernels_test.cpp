// Every kernel on every pattern, 256 ranks on 16 nodes: the file, or the ranks' memory, must be
// that of a serial model, and every message must find its receive. `sluice simulate --check` does
// the same for more ranks.
#include "bench/patterns/pattern.hpp"
#include "sanitizers.hpp"
#include "simulate/experiment.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_kernels_test {
namespace {

using namespace simulated;

constexpr Rank ranks = 256;

/// Four ranks of some job, words in turn.
char const* const decomposition = "1 0 0 3\n1 1 3 1\n1 2 4 2\n1 3 6 1\n1 0 7 1\n1 1 8 5\n";

Experiment experiment_of(std::string const& pattern, Delivery delivery, Direction way) {
    patterns::PatternSpec spec;
    spec.name = pattern;
    spec.bytes = 2048, spec.piece_bytes = 256;
    spec.decomposition = patterns::Decomposition(decomposition);
    spec.decomposition_number = 1;
    EXPECT_EQ(patterns::why_not(spec, ranks), "") << pattern;
    Experiment e;
    e.machine = machine_named("knl").value();
    e.machine.ranks_per_node = 16;
    e.machine.set_ranks(ranks);
    e.hints.write = e.hints.read = Strategy::two_phase;
    e.hints.aggregator_count = 8;
    e.hints.window_bytes = e.cb_buffer_bytes_max = Bytes{32} << 10;
    e.hints.metadata = e.hints.data = delivery;
    e.request = [spec, way](Rank rank) { return patterns::make_request(spec, rank, ranks, way); };
    return e;
}

class SimulatedKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(SimulatedKernels, EveryByteInBothDirections) {
    SKIP_WITH_THREAD_SANITIZER();
    for (auto const layers : {Layers::one, Layers::two}) {
        for (auto const kernel : {Kernel::ascending, Kernel::pairwise, Kernel::spread_out,
                                  Kernel::balanced, Kernel::even}) {
            Delivery const delivery{kernel, layers,
                                    std::uint8_t(kernel == Kernel::ascending ? 0 : 1)};
            bool const both = kernel == Kernel::ascending || kernel == Kernel::balanced;
            for (auto const way : {Direction::write, Direction::read}) {
                if (way == Direction::read && !both) continue;  // Sanitizers make it slow.
                if (testing::is_left_out()) continue;
                Outcome const outcome = run(experiment_of(GetParam(), delivery, way));
                ASSERT_EQ(outcome.fault, "") << describe(delivery) << " " << describe(way);
                EXPECT_GT(outcome.messages, 0);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Pattern, SimulatedKernels, ::testing::ValuesIn(patterns::pattern_names()),
                         [](auto const& name) {
                             std::string word = name.param;
                             std::replace(word.begin(), word.end(), '-', '_');
                             return word;
                         });

TEST(SimulatedThrottle, EveryByteWithEachThrottle) {
    for (Throttle const throttle : {Throttle{0}, {1}, {5}, {5, 1}, {Throttle::usual, 1}}) {
        for (auto const layers : {Layers::one, Layers::two}) {
            Delivery const delivery{
                .kernel = Kernel::balanced, .layers = layers, .throttle = throttle};
            Experiment const e = experiment_of("strided", delivery, Direction::write);
            EXPECT_EQ(run(e).fault, "") << describe(throttle);
        }
    }
}

/// The same without messages between nodes.
TEST_P(SimulatedKernels, EveryByteByGroups) {
    SKIP_WITH_THREAD_SANITIZER();
    for (std::int32_t const groups : {1, 4}) {
        for (auto const way : {Direction::write, Direction::read}) {
            if (testing::is_left_out()) continue;
            Experiment e = experiment_of(GetParam(), {}, way);
            e.hints.domains = Domains::groups;
            e.hints.aggregator_count = 64;
            e.hints.group_count = static_cast<std::uint8_t>(groups);
            Outcome const outcome = run(e);
            ASSERT_EQ(outcome.fault, "") << describe(way);
            EXPECT_EQ(outcome.plan.groups.count(), groups);
            auto const of_reductions = Bytes{4} * e.machine.nodes;
            EXPECT_LE(outcome.messages, of_reductions);
        }
    }
}

/// A check of bytes that are all the same would see nothing.
TEST(SimulatedCheck, APatternDependsOnThePlace) {
    std::vector<std::byte> whole(4096), part(100);
    fill_with_pattern(whole.data(), 0, 4096);
    fill_with_pattern(part.data(), 1003, 100);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 1003));
    fill_with_pattern(part.data(), 1004, 100);
    EXPECT_FALSE(std::equal(part.begin(), part.end(), whole.begin() + 1003));
}

}  // namespace
}  // namespace sluice::simulation_kernels_test
