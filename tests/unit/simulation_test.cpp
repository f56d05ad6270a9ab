// The shipped operations over simulated ports: many ranks, several nodes, drawn delays, faults.
// The oracle is a serial byte model of the file. A failure names its seed.
#include "sanitizers.hpp"
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_test {
namespace {

using namespace testing;

/// The memory of some ranks lies on a device.
void place_memory(World& world, Rank rank, std::uint64_t seed, Part& part, Call& call) {
    if ((seed >> rank % 8 & 1) == 0) call.user = world.device(rank).memory(part.memory.data());
}

void write_then_read(WorldShape shape, std::uint64_t seed, int pattern, bool short_counts,
                     int outstanding = 3, Hints const& hints = {}) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " pattern " + std::to_string(pattern) +
                 " ranks " + std::to_string(shape.rank_count) + "/" +
                 std::to_string(shape.ranks_per_node));
    FilledLater filled;
    World world(shape, seed);
    auto const make_call = [&](Rank rank, Part& part) {
        Call call = call_of(part, Strategy::two_phase);
        place_memory(world, rank, seed, part, call);
        if ((seed >> (rank + 3) % 8 & 1) != 0) filled.fill(world, rank, part.memory, call);
        Strategy const both = call.hints.write;
        call.hints = hints;
        call.hints.write = call.hints.read = both;
        return call;
    };
    world.file(0).short_counts = short_counts;
    world.file(0).bytes.assign(100'000, std::byte{0});
    auto expected = world.file(0).bytes;
    std::vector<std::shared_ptr<Operation>> operations;
    std::vector<std::vector<Part>> all;
    Offset next = 0;  // Operations that are under way together must not overlap.
    for (int k = 0; k < outstanding; ++k) {
        all.push_back(parts_of(world, shape.rank_count, pattern));
        Offset end = next;
        for (auto& part : all.back()) {
            part.request.view.displacement += next;
            end = std::max(end, span_of(part.request).end);
            model_write(expected, part);
        }
        next = end;
    }
    for (auto& parts : all) {
        for (Rank r = 0; r < shape.rank_count; ++r) {
            operations.push_back(
                world.call(r, 0, make_call(r, parts[static_cast<std::size_t>(r)])));
        }
    }
    ASSERT_EQ(world.run(), "");
    for (auto const& o : operations) {
        ASSERT_TRUE(o->complete());
        ASSERT_EQ(o->status(), Status::ok);
        bool const asked =
            hints.domains != Domains::automatic && o->plan().span.bytes() > hints.stripe_bytes;
        if (asked && o->plan().aggregator_count() > 1) {
            ASSERT_EQ(o->plan().division, hints.domains);
        }
    }
    auto written = world.file(0).bytes;
    written.resize(expected.size());
    auto const [differs, model] = std::mismatch(written.begin(), written.end(), expected.begin());
    ASSERT_EQ(differs, written.end())
        << "file offset " << differs - written.begin() << ": " << static_cast<int>(*differs)
        << ", expected " << static_cast<int>(*model);

    for (auto& parts : all) {
        for (Rank r = 0; r < shape.rank_count; ++r) {
            Part& part = parts[static_cast<std::size_t>(r)];
            part.request.direction = Direction::read;
            std::fill(part.memory.begin(), part.memory.end(), std::byte{0});
            operations.push_back(world.call(r, 0, make_call(r, part)));
        }
    }
    ASSERT_EQ(world.run(), "");
    for (auto const& parts : all) {
        for (std::size_t r = 0; r < parts.size(); ++r) {
            for (std::size_t i = 0; i < parts[r].memory.size(); ++i) {
                ASSERT_EQ(parts[r].memory[i], value_of(static_cast<Rank>(r), static_cast<Bytes>(i)))
                    << "rank " << r << " byte " << i;
            }
        }
    }
}

TEST(Simulation, EveryByteOnOneAndSeveralNodes) {
    for (unsigned const seed : testing::FreshSeeds(6)) {
        for (Rank const ranks : {1, 2, 3, 5, 8}) {
            for (Rank const per_node : {1, 2, 8}) {
                for (int pattern = 0; pattern < 3; ++pattern) {
                    if (testing::is_left_out()) continue;
                    write_then_read({ranks, per_node, 4096, 3}, seed, pattern, seed % 2 == 0);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST(Simulation, EveryKernelInOneLayerAndInTwo) {
    std::uint64_t seed = testing::run_seed();
    for (auto const kernel : {Kernel::ascending, Kernel::pairwise, Kernel::spread_out,
                              Kernel::balanced, Kernel::even}) {
        for (auto const metadata : {Layers::one, Layers::two}) {
            for (auto const data : {Layers::one, Layers::two}) {
                for (int pattern = 0; pattern < 3; ++pattern) {
                    ++seed;
                    if (testing::is_left_out()) continue;
                    Hints hints;
                    hints.metadata = {kernel, metadata};
                    hints.data = {kernel, data};
                    hints.metadata.throttle = {static_cast<std::int32_t>(seed % 4),
                                               std::uint8_t(seed % 3 == 0 ? 1 : 0)};
                    hints.data.throttle = {static_cast<std::int32_t>(seed / 4 % 4),
                                           std::uint8_t(seed % 2)};
                    write_then_read({9, 4, 4096, 3}, seed, pattern, seed % 2 == 0, 3, hints);
                    write_then_read({8, 2, 4096, 4}, seed, pattern, false, 6, hints);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

/// Windows of several stripes, of one, and of a part of one.
TEST(Simulation, EveryByteWithEveryDivision) {
    Hints hints;
    hints.aggregator_count = 3;
    std::uint64_t seed = testing::run_seed();
    for (Domains const division : {Domains::even, Domains::cyclic, Domains::balanced}) {
        hints.domains = division;
        for (Bytes const stripe : {4096, 8192, 40'000}) {
            hints.stripe_bytes = stripe;
            for (int pattern = 0; pattern < 3; ++pattern) {
                for (Rank const per_node : {2, 3, 8}) {
                    SCOPED_TRACE(describe(division));
                    ++seed;
                    if (testing::is_left_out()) continue;
                    hints.data.layers = seed % 2 == 0 ? Layers::one : Layers::two;
                    write_then_read({8, per_node, 16384, 3}, seed, pattern, per_node == 3, 3,
                                    hints);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

/// Groups of one rank, of some, of a whole node; aggregators one each and several.
TEST(Simulation, EveryByteByGroups) {
    Hints hints;
    hints.domains = Domains::groups;
    std::uint64_t seed = testing::run_seed();
    for (int const groups : {0, 1, 2, 3, 8}) {
        hints.group_count = static_cast<std::uint8_t>(groups);
        for (std::int32_t const aggregators : {0, 2, 8}) {
            hints.aggregator_count = aggregators;
            for (int pattern = 0; pattern < 3; ++pattern) {
                for (Rank const per_node : {1, 2, 3, 8}) {
                    ++seed;
                    if (testing::is_left_out()) continue;
                    write_then_read({8, per_node, 16384, 8}, seed, pattern, per_node == 3, 3,
                                    hints);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

/// Nodes count the rounds by groups apart; the messages of operations before, between and behind
/// them must still find each other.
TEST(Simulation, OperationsByGroupsAmongOthers) {
    for (unsigned const seed : testing::FreshSeeds(20)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World world({7, 3, 8192, 4}, seed);
        std::vector<std::vector<Part>> all;
        std::vector<std::shared_ptr<Operation>> operations;
        auto expected = world.file(0).bytes;
        Offset next = 0;
        for (int k = 0; k < 12; ++k) {
            all.push_back(
                parts_of(world, 7, static_cast<int>(seed + static_cast<unsigned>(k)) % 3));
            Offset end = next;
            for (auto& part : all.back()) {
                part.request.view.displacement += next;
                end = std::max(end, span_of(part.request).end);
                if (expected.size() < static_cast<std::size_t>(end)) {
                    expected.resize(static_cast<std::size_t>(end));
                }
                model_write(expected, part);
            }
            next = end;
        }
        for (std::size_t k = 0; k < all.size(); ++k) {
            for (Rank r = 0; r < 7; ++r) {
                Call call = call_of(all[k][static_cast<std::size_t>(r)], Strategy::two_phase);
                bool const grouped = (seed >> k % 5 & 1) != 0;
                call.hints.domains = grouped ? Domains::groups : Domains::even;
                call.hints.group_count = static_cast<std::uint8_t>(k % 3);
                call.hints.data.layers = k % 2 == 0 ? Layers::one : Layers::two;
                operations.push_back(world.call(r, 0, std::move(call)));
            }
        }
        ASSERT_EQ(world.run(), "");
        for (auto const& o : operations) ASSERT_EQ(o->status(), Status::ok);
        auto written = world.file(0).bytes;
        written.resize(expected.size());
        ASSERT_EQ(written, expected);
    }
}

TEST(Simulation, AThousandRanks) {
    SKIP_WITH_THREAD_SANITIZER();
    SKIP_OUTSIDE_SAMPLE();
    write_then_read({1024, 32, 1 << 18, 8}, 7, 0, false, 1);
    write_then_read({1024, 32, 1 << 18, 8}, 8, 2, false, 1);
}

}  // namespace
}  // namespace sluice::simulation_test
