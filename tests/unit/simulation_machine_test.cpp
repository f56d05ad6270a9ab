// The shipped operations in the virtual time of a described machine, with all bytes compared; and
// the machine's own arithmetic.
#include "simulate/experiment.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_machine_test {
namespace {

using namespace simulated;

/// Rank r takes piece r of each row.
std::function<Request(Rank)> strided(Rank ranks, Bytes piece, Bytes bytes, Direction way) {
    return [=](Rank rank) {
        Request r;
        r.direction = way;
        r.view.filetype = std::make_shared<Layout const>(
            std::vector<Run>{{rank * piece, piece, 0, 1}}, piece * ranks);
        r.bytes = bytes;
        return r;
    };
}

Experiment experiment(Machine machine, Bytes piece, Bytes bytes, Direction way) {
    Experiment e;
    e.machine = machine;
    e.request = strided(machine.ranks(), piece, bytes, way);
    e.hints.write = e.hints.read = Strategy::two_phase;
    return e;
}

Machine small(std::string const& name, Rank nodes, Rank ranks_per_node) {
    Machine machine = machine_named(name).value();
    machine.nodes = nodes, machine.ranks_per_node = ranks_per_node;
    return machine;
}

TEST(SimulatedMachine, EveryByteOnEveryPreset) {
    for (std::string const& name : machine_names()) {
        for (auto const way : {Direction::write, Direction::read}) {
            Outcome const outcome = run(experiment(small(name, 16, 16), 256, 4096, way));
            EXPECT_EQ(outcome.fault, "") << name << " " << describe(way);
            EXPECT_GT(outcome.messages, 0) << name;
        }
    }
}

/// Neither their memory nor their file is kept.
TEST(SimulatedMachine, WhatNobodyComparesTakesAsLong) {
    for (auto const way : {Direction::write, Direction::read}) {
        Experiment one = experiment(small("knl", 8, 8), 256, 16384, way);
        Outcome const with_bytes = run(one);
        one.checked = false;
        Outcome const without = run(one);
        EXPECT_EQ(with_bytes.fault + without.fault, "");
        EXPECT_EQ(with_bytes.seconds, without.seconds);
        EXPECT_EQ(with_bytes.message_bytes, without.message_bytes);
        EXPECT_EQ(with_bytes.storage_calls, without.storage_calls);
    }
}

TEST(SimulatedMachine, PartsAddUpToTheTimeOfTheSlowestRank) {
    Outcome const outcome = run(experiment(small("knl", 8, 8), 256, 16384, Direction::write));
    ASSERT_EQ(outcome.fault, "");
    Parts const& sum = outcome.sum;
    double const parts =
        sum.metadata + sum.computation + sum.data + sum.storage + sum.both + sum.waiting;
    EXPECT_NEAR(parts, sum.total, 1e-9 * sum.total);
    EXPECT_NEAR(outcome.largest.total, outcome.seconds, 1e-9 + 0.01 * outcome.seconds);
    EXPECT_GT(outcome.largest.storage + outcome.largest.both, 0);
    EXPECT_GT(outcome.largest.metadata, 0);
}

TEST(SimulatedMachine, OnADeviceTimeIsThatOfTheDevice) {
    for (DeviceProfile const& profile : device_profiles()) {
        Machine machine = small("power9", 4, 4);
        machine.device = profile;
        for (auto const way : {Direction::write, Direction::read}) {
            Bytes const bytes = Bytes{1} << 20;
            Outcome const outcome = run(experiment(machine, 4096, bytes, way));
            ASSERT_EQ(outcome.fault, "") << profile.name;
            double const least =
                16 * static_cast<double>(bytes) * costs_of(profile, way).byte_seconds;
            EXPECT_GE(outcome.seconds, least) << profile.name;
            // Two-phase makes long accesses of short pieces: few of them seek.
            EXPECT_LE(outcome.seconds, 2 * least + 0.1) << profile.name;
        }
    }
}

TEST(SimulatedMachine, DevicesOfDescriptions) {
    auto const device_of = [](std::string const& text, std::string& error) {
        Description description;
        description.add(text);
        auto const machine = take_machine(description);
        error = description.error();
        return machine.device;
    };
    std::string error;
    EXPECT_FALSE(device_of("[machine]\npreset = knl\n", error));
    EXPECT_EQ(error, "");
    EXPECT_EQ(device_of("[machine]\ndevice = ssd\n[device]\nqueue_depth = 8\n", error)->queue_depth,
              8);
    EXPECT_EQ(error, "");
    EXPECT_EQ(device_of("[machine]\ndevice = own\n[device]\npreset = hdd\n", error)->name, "hdd");
    EXPECT_EQ(error, "");
    device_of("[machine]\ndevice = tape\n", error);
    EXPECT_NE(error.find("tape"), std::string::npos);
    device_of("[device]\nqueue_depth = 8\n", error);  // Of no device that is used.
    EXPECT_NE(error, "");
}

TEST(SimulatedMachine, NumbersOfNoMachine) {
    for (std::string const lines :
         {"ranks_per_node = 0", "ranks_per_node = 0\nranks = 5", "nodes = 0",
          "nodes = 2147483647\nranks_per_node = 2147483647", "ranks = 2147483647",
          "ranks = 2\nranks_per_node = 2147483647", "storage_servers = 2147483647"}) {
        Description description;
        description.add("[machine]\n" + lines + "\n");
        (void)take_machine(description);
        EXPECT_EQ(description.error().find("a machine "), 0U) << lines << description.error();
    }
    Description description;
    description.add("[machine]\nranks = 4096\nranks_per_node = 42\n");
    EXPECT_EQ(take_machine(description).nodes, 98);
    EXPECT_EQ(description.error(), "");
}

TEST(SimulatedMachine, FourThousandRanks) {
    Outcome const outcome = run(experiment(small("knl", 64, 64), 256, 4096, Direction::write));
    EXPECT_EQ(outcome.fault, "");
}

}  // namespace
}  // namespace sluice::simulation_machine_test
