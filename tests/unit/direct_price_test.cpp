// What is estimated of bytes that ranks move straight to the file, before they ask the others.
#include "cost_model_cases.hpp"
#include "file/plan/decision.hpp"
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::direct_price_test {
namespace {

constexpr Rank ranks = 4;
constexpr Bytes piece = 4096, rows = 16;

/// Of ranks of one node on a disk, with pieces in turn that nobody exchanges.
Estimate estimate() {
    Summary all;
    for (Rank rank = 0; rank < ranks; ++rank) {
        Summary one;
        one.operation = 1;
        one.independent = load_of(testing::interleaved(rank, ranks, piece, rows, 0));
        all = rank == 0 ? one : merge(all, one);
    }
    PlanLimits limits;
    limits.cores_a_node = 2;
    limits.machine = std::make_shared<MachineProfile>(cases::machine_with("hdd"));
    Decision const decision = decide(all, Topology({0, 0, 0, 0}), limits);
    EXPECT_EQ(decision.way.strategy, Strategy::independent);
    return decision.estimate;
}

/// The last request was elsewhere: the first one has to find its place, which takes a disk longer
/// than many requests in a row.
TEST(direct_price, has_the_seek_of_the_first_request) {
    auto const machine = cases::machine_with("hdd");
    double const seek =
        machine.random[0].seconds(piece, 1) - machine.sequential[0].seconds(piece, 1);
    double const requests = rows * machine.sequential[0].seconds(piece, ranks);
    EXPECT_NEAR(estimate().storage, requests + seek, 1e-2 * seek);
    EXPECT_GT(seek, requests / 4);
}

TEST(direct_price, has_the_time_until_ranks_that_slept_are_awake) {
    Workload const work = cases::work_of(cases::Shape::contiguous, Direction::read, 1, ranks);
    auto machine = cases::machine_with("nvm");
    double const before = price(Candidate{}, work, machine).total;
    machine.after_pause = 1e-3;
    // Two ranks share each core.
    EXPECT_NEAR(price(Candidate{}, work, machine).total, before + 2e-3, 1e-9);
    Candidate const exchange{
        .strategy = Strategy::two_phase, .aggregators = 2, .window_bytes = 1 << 20};
    double const longer = price(exchange, work, machine).planning;
    machine.after_pause = 0;
    EXPECT_NEAR(longer - price(exchange, work, machine).planning, 2e-3, 1e-9);
}

}  // namespace
}  // namespace sluice::direct_price_test
