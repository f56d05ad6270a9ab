// Ranks that know their machine, or believe they do: whatever a profile says, they decide alike,
// and every byte is right.
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_choice_test {
namespace {

using namespace testing;

constexpr int operation_count = 12;

/// Some number between `least` and 1000 times as much.
double drawn(simulated::Time& time, double least) {
    return least * std::pow(10.0, static_cast<double>(time.draw(300)) / 100);
}

RequestCosts drawn_costs(simulated::Time& time) {
    RequestCosts costs;
    for (std::int32_t const clients : {1, 4}) {
        double const start = drawn(time, 1e-5), byte = drawn(time, 1e-10);
        Curve curve;
        for (Bytes const bytes : {4096, 65536, 1 << 20}) {
            curve.points.push_back({bytes, start + byte * static_cast<double>(bytes)});
        }
        costs.depths.push_back({clients, curve});
    }
    return costs;
}

std::shared_ptr<MachineProfile const> drawn_machine(std::uint64_t seed) {
    simulated::Time time(seed);
    auto machine = std::make_shared<MachineProfile>(usual_machine());
    machine->measured = "drawn";
    machine->between = {drawn(time, 1e-6), drawn(time, 1e-10)};
    machine->copy_byte = drawn(time, 1e-11);
    for (std::size_t way = 0; way < 2; ++way) {
        machine->sequential[way] = drawn_costs(time);
        machine->random[way] = drawn_costs(time);
    }
    return machine;
}

Call free_call(Part& part, std::uint64_t seed) {
    Call call = call_of(part, Strategy::automatic);
    call.find_memory = nullptr;
    call.hints.aggregator_count = static_cast<std::int32_t>(seed % 3);
    return call;
}

/// What one operation was on all ranks.
void expect_alike(std::vector<std::shared_ptr<Operation>> const& ranks) {
    Decision const& first = ranks.front()->decision();
    for (auto const& operation : ranks) {
        ASSERT_TRUE(operation->complete());
        ASSERT_EQ(operation->status(), Status::ok);
        Decision const& decision = operation->decision();
        ASSERT_TRUE(decision.priced);
        ASSERT_EQ(decision.way, first.way);
        ASSERT_EQ(decision.estimate, first.estimate);
    }
}

class SimulatedChoice : public ::testing::TestWithParam<std::uint64_t> {};

/// Writes as many operations as begin to use what earlier ones taught, then reads them.
TEST_P(SimulatedChoice, AllRanksDecideAlikeAndEveryByteIsRight) {
    std::uint64_t const seed = GetParam();
    auto const ranks = static_cast<Rank>(2 + seed % 7);
    WorldShape shape{ranks, static_cast<Rank>(1 + seed % 4), 65536, 3};
    shape.machine = drawn_machine(seed);
    World world(shape, seed);
    world.file(0).short_counts = seed % 2 == 0;
    std::vector<std::vector<Part>> all;
    std::vector<std::byte> expected;
    for (int k = 0; k < operation_count; ++k) {
        all.push_back(parts_of(world, ranks, k % 3));
        auto const next = static_cast<Offset>(expected.size());
        for (auto& part : all.back()) {
            part.request.view.displacement += next;
            model_write(expected, part);
        }
    }
    for (Direction const way : {Direction::write, Direction::read}) {
        std::vector<std::vector<std::shared_ptr<Operation>>> operations;
        for (auto& parts : all) {
            operations.emplace_back();
            for (Rank r = 0; r < ranks; ++r) {
                Part& part = parts[static_cast<std::size_t>(r)];
                part.request.direction = way;
                if (way == Direction::read) std::ranges::fill(part.memory, std::byte{0});
                operations.back().push_back(world.call(r, 0, free_call(part, seed)));
            }
            if (seed % 3 == 0) continue;
            ASSERT_EQ(world.run(), "");  // One at a time.
        }
        ASSERT_EQ(world.run(), "");
        for (auto const& one : operations) expect_alike(one);
        if (way == Direction::write) {
            auto written = world.file(0).bytes;
            written.resize(expected.size());
            ASSERT_TRUE(written == expected);
        }
    }
    for (auto const& parts : all) {
        for (std::size_t r = 0; r < parts.size(); ++r) {
            for (std::size_t i = 0; i < parts[r].memory.size(); ++i) {
                ASSERT_EQ(parts[r].memory[i],
                          value_of(static_cast<Rank>(r), static_cast<Bytes>(i)));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedChoice, ::testing::Range<std::uint64_t>(1, 61));

}  // namespace
}  // namespace sluice::simulation_choice_test
