// Is what the cost model chooses the best? Drawn accesses on drawn machines are simulated with each
// candidate that hints can force, and with the library's own choice, from the profile of the very
// machine: in virtual time nothing disturbs the comparison.
#include "cost_model_cases.hpp"
#include "sanitizers.hpp"
#include "simulate/experiment.hpp"
#include "simulate/time.hpp"
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_best_test {
namespace {

constexpr double worst_allowed = 1.1;
constexpr Bytes window_most = Bytes{1} << 20;

/// All that a case is drawn from.
struct Case {
    simulated::Machine machine;
    std::shared_ptr<MachineProfile const> profile;
    Direction direction = Direction::write;
    Bytes piece = 0;           ///< Of each rank, in turn where they interleave.
    std::int64_t rows = 0;     ///< Such pieces.
    bool interleaved = false;  ///< Else each rank has a part of the file for itself.
    Rank holes = 0;            ///< Pieces between those of all ranks that nobody accesses.
};

/// As `sluice calibrate` would find them in the simulated machine.
std::shared_ptr<MachineProfile const> profile_of(simulated::Machine const& machine,
                                                 char const* device) {
    auto profile = std::make_shared<MachineProfile>(cases::machine_with(device));
    // The machine serves all windows of an aggregator at once, and its device knows a few streams.
    for (auto const way : {0U, 1U})
        for (std::size_t i = 0; i < profile->sequential[way].depths.size(); ++i)
            if (2 * profile->sequential[way].depths[i].clients > machine.device->streams)
                profile->sequential[way].depths[i] = profile->random[way].depths[i];
    double const wake = machine.wake_seconds;
    profile->between = {machine.start_seconds, machine.byte_seconds};
    profile->queue = machine.queue_seconds;
    profile->copy_byte = machine.copy_byte_seconds;
    profile->copy_piece = profile->plan_piece = machine.piece_seconds;
    profile->wake = wake;
    profile->operation = 4 * wake;
    profile->operation_nodes = 4 * (machine.start_seconds + wake);
    profile->exchange = 2 * wake;
    profile->round = 2 * wake;
    return profile;
}

Case drawn_case(std::uint64_t seed) {
    simulated::Time time(seed);
    char const* const devices[] = {"hdd", "ssd", "nvm"};
    char const* const device = devices[time.draw(3)];
    Case c;
    auto& m = c.machine;
    m.nodes = static_cast<Rank>(1) << time.draw(3);
    m.ranks_per_node = static_cast<Rank>(1) << (m.nodes == 1 ? 1 + time.draw(3) : time.draw(3));
    m.copy_byte_seconds = 1e-10;
    m.piece_seconds = 5e-9;
    m.wake_seconds = 5e-6;
    m.start_seconds = 5e-6;
    m.byte_seconds = time.draw(2) == 0 ? 1e-9 : 1e-10;
    m.card_ports = 1;
    m.device = device_named(device);
    c.profile = profile_of(m, device);
    c.direction = time.draw(2) == 0 ? Direction::write : Direction::read;
    c.piece = Bytes{1024} << time.draw(8);
    c.interleaved = time.draw(3) != 0;
    Bytes const bytes = Bytes{64 << 10} << time.draw(5);  // Of a rank: to 1 MiB.
    c.rows = std::max<std::int64_t>(1, bytes / c.piece);
    return c;
}

/// Of the same machine and pieces as without holes; these are as long as one piece, or as all.
Case with_holes(Case c, std::uint64_t seed) {
    c.interleaved = true;
    c.holes = seed % 2 == 0 ? 1 : c.machine.ranks();
    return c;
}

Request request_of(Case const& c, Rank rank) {
    if (c.interleaved) {
        Request r = testing::interleaved(rank, c.machine.ranks() + c.holes, c.piece, c.rows, 0);
        r.direction = c.direction;
        return r;
    }
    Request r;
    r.direction = c.direction;
    r.view.displacement = rank * c.rows * c.piece;
    r.bytes = c.rows * c.piece;
    return r;
}

simulated::Outcome simulate(Case const& c, Hints const& hints) {
    simulated::Experiment experiment;
    experiment.machine = c.machine;
    experiment.hints = hints;
    experiment.profile = c.profile;
    experiment.cb_buffer_bytes_max = window_most;
    experiment.request = [&](Rank rank) { return request_of(c, rank); };
    return run(experiment);
}

/// Of one strategy; of two-phase each number of aggregators, division and window.
std::vector<Hints> candidates_of(Case const& c) {
    std::vector<Hints> all(1);
    all[0].write = all[0].read = Strategy::independent;
    for (std::int32_t count = 1; count <= c.machine.ranks(); count *= 2) {
        for (Bytes const window : {64 << 10, 256 << 10, 1 << 20}) {
            for (Domains const domains : {Domains::even, Domains::balanced, Domains::groups}) {
                if (domains == Domains::groups && c.machine.nodes == 1) continue;
                Hints hints;
                hints.write = hints.read = Strategy::two_phase;
                hints.aggregator_count = count;
                hints.window_bytes = window;
                hints.domains = domains;
                all.push_back(hints);
            }
        }
    }
    return all;
}

void expect_good_choice(Case const& c) {
    SKIP_WITH_THREAD_SANITIZER();
    SKIP_OUTSIDE_SAMPLE();
    auto const chosen = simulate(c, {});
    ASSERT_EQ(chosen.fault, "");
    double best = chosen.seconds;
    Plan best_plan = chosen.plan;
    for (Hints const& hints : candidates_of(c)) {
        auto const one = simulate(c, hints);
        ASSERT_EQ(one.fault, "");
        if (one.seconds < best) best = one.seconds, best_plan = one.plan;
    }
    EXPECT_LE(chosen.seconds, worst_allowed * best)
        << chosen.seconds / best << " of the best: " << describe(chosen.plan) << "\nbest:\n"
        << describe(best_plan);
}

class SimulatedBest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SimulatedBest, TheChoiceIsNeverFarFromTheBestCandidate) {
    expect_good_choice(drawn_case(GetParam()));
}

TEST_P(SimulatedBest, NorIsItForAccessesWithHoles) {
    expect_good_choice(with_holes(drawn_case(GetParam()), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedBest,
                         ::testing::Range<std::uint64_t>(1, 1 + testing::cases_of(28)));

}  // namespace
}  // namespace sluice::simulation_best_test
