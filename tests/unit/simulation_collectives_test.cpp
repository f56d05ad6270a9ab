// Collectives between memories as the library runs them, over simulated ports: many ranks, drawn
// delays, several calls under way, contiguous and scattered memory, two stages. A failure names its
// seed.
#include "collective_cases.hpp"
#include "drawn.hpp"
#include "simulate/world.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace sluice::simulation_collectives_test {
namespace {

using namespace testing;
using simulated::World;
using simulated::WorldShape;

/// A stream in memory: bytes together, or three of every five.
struct Memory8 {
    Memory8(ByteString const& queue, bool scattered) : bytes(queue), holes(scattered) {
        if (!holes) return;
        layout = std::make_shared<Layout>(Sections({Run{0, 3, 0, 1}}), 5);
        bytes.assign((queue.size() + 2) / 3 * 5, std::byte{0xee});
        Blocks there;
        bind(there, static_cast<Bytes>(queue.size()));
        there.unpack(0, queue);
    }
    void bind(Blocks& blocks, Bytes size) { blocks.add(bytes.data(), size, layout); }
    [[nodiscard]] ByteString queue(std::size_t size) {
        Blocks here;
        bind(here, static_cast<Bytes>(size));
        ByteString all(size);
        here.pack(0, all);
        return all;
    }
    /// Nobody touched what is not in the operation queue.
    [[nodiscard]] bool holes_are_left() const {
        for (std::size_t i = 0; holes && i < bytes.size(); ++i) {
            if (i % 5 > 2 && bytes[i] != std::byte{0xee}) return false;
        }
        return true;
    }

    ByteString bytes;
    bool holes;
    std::shared_ptr<Layout const> layout;
};

struct Under {
    CollectiveCase what;
    Algorithm algorithm;
    std::vector<std::unique_ptr<Memory8>> inputs, outputs;
    std::vector<std::shared_ptr<CollectiveState>> states;
};

std::shared_ptr<CollectivePlan const> plan_of(CollectiveCall const& call, Algorithm algorithm,
                                              Rank self, Rank ranks, Bytes segment) {
    return std::make_shared<CollectivePlan const>(
        make_collective(call, algorithm, self, ranks, segment));
}

Under draw(std::mt19937_64& random, Rank ranks) {
    auto const kind = static_cast<CollectiveKind>(random() % collective_kinds);
    Under under{CollectiveCase(random, ranks, kind, 600), Algorithm::linear, {}, {}, {}};
    auto const choices = algorithms_of(under.what.parts[0].call, ranks);
    under.algorithm = choices[random() % choices.size()];
    for (auto const& part : under.what.parts) {
        under.inputs.push_back(std::make_unique<Memory8>(part.input, random() % 3 == 0));
        under.outputs.push_back(std::make_unique<Memory8>(part.output, random() % 3 == 0));
    }
    return under;
}

std::string describe(Under const& under) {
    CollectiveCall const& call = under.what.parts[0].call;
    return std::string(describe(call.kind)) + " " + describe(under.algorithm) + " block " +
           std::to_string(call.block) + " root " + std::to_string(call.root) +
           (call.in_place ? " in place" : "") + (call.commutative ? "" : " not commutative");
}

/// What a rank does in the call.
CollectiveStage stage_of(Under& under, Rank r, Rank ranks, TestReduction const& sums,
                         TestReduction const& maps) {
    auto const self = static_cast<std::size_t>(r);
    RankCase const& part = under.what.parts[self];
    CollectiveStage stage;
    stage.plan = plan_of(part.call, under.algorithm, r, ranks, 128);
    under.inputs[self]->bind(stage.buffers.input, static_cast<Bytes>(part.input.size()));
    under.outputs[self]->bind(stage.buffers.output, static_cast<Bytes>(part.output.size()));
    stage.buffers.reduction = part.call.commutative ? &sums : &maps;
    return stage;
}

void run(std::uint64_t seed, Rank ranks, int calls) {
    std::mt19937_64 random(seed);
    World world(WorldShape{.rank_count = ranks, .ranks_per_node = 2}, seed);
    TestReduction const sums(true), maps(false);
    std::vector<Under> all;
    for (int i = 0; i < calls; ++i) all.push_back(draw(random, ranks));
    for (Rank r = 0; r < ranks; ++r) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            Under& under = all[i];
            under.states.push_back(world.collective(r, stage_of(under, r, ranks, sums, maps), i));
        }
    }
    std::string names;
    for (auto const& under : all) names += describe(under) + "; ";
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(ranks) +
                 " ranks: " + names);
    ASSERT_EQ(world.run(), "");
    for (auto& under : all) {
        for (std::size_t r = 0; r < under.states.size(); ++r) {
            ASSERT_TRUE(under.states[r]->complete());
            ASSERT_EQ(under.states[r]->status(), Status::ok);
            RankCase const& part = under.what.parts[r];
            auto const got = under.outputs[r]->queue(part.output.size());
            ASSERT_TRUE(std::equal(got.begin(), got.begin() + part.compared, part.expected.begin()))
                << describe(under) << " rank " << r;
            ASSERT_TRUE(under.outputs[r]->holes_are_left());
            ASSERT_EQ(under.inputs[r]->queue(part.input.size()), part.input) << "input changed";
        }
    }
}

/// Draws calls until one brings bytes of this rank to all others.
Under draw_dependent(std::mt19937_64& random, Rank ranks, Rank on) {
    while (true) {
        Under under = draw(random, ranks);
        CollectiveCall const& call = under.what.parts[0].call;
        bool const from_root = call.kind == CollectiveKind::bcast && call.root == on;
        bool const from_all = call.kind == CollectiveKind::allreduce ||
                              call.kind == CollectiveKind::allgather ||
                              call.kind == CollectiveKind::alltoall;
        if (call.block > 0 && (from_root || from_all)) return under;
    }
}

/// Who depends on what it should have passed on must not take other bytes for them.
TEST(SimulatedCollectives, ARankThatHasMetAnErrorPassesItOn) {
    for (std::uint64_t seed = 3000; seed < 3200; ++seed) {
        std::mt19937_64 random(seed);
        auto const ranks = 2 + static_cast<Rank>(seed % 9);
        auto const bad = static_cast<Rank>(random() % static_cast<std::uint64_t>(ranks));
        World world(WorldShape{.rank_count = ranks, .ranks_per_node = 2}, seed);
        TestReduction const sums(true), maps(false);
        Under under = draw_dependent(random, ranks, bad);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(under));
        for (Rank r = 0; r < ranks; ++r) {
            auto const self = static_cast<std::size_t>(r);
            under.states.push_back(world.collective(r, stage_of(under, r, ranks, sums, maps), 0));
            if (r == bad) under.states[self]->fail({.status = Status::other});
        }
        ASSERT_EQ(world.run(), "");
        for (auto const& state : under.states) {
            ASSERT_TRUE(state->complete());
            ASSERT_EQ(state->status(), Status::other);
        }
    }
}

TEST(SimulatedCollectives, BringWhatMpiSays) {
    for (unsigned const seed : testing::FreshSeeds(600)) {
        run(seed, 1 + static_cast<Rank>(seed * 7 % 17), 1);
        if (HasFatalFailure()) return;
    }
}

TEST(SimulatedCollectives, ManyUnderWayDoNotDisturbEachOther) {
    for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
        run(seed, 2 + static_cast<Rank>(seed * 5 % 9), 8);
        if (HasFatalFailure()) return;
    }
}

/// More than may be under way at once, and more than there are tags.
TEST(SimulatedCollectives, ManyMoreThanThereAreTags) { run(7, 3, 1200); }

TEST(SimulatedCollectives, SixtyFourRanks) {
    for (std::uint64_t seed = 2000; seed < 2040; ++seed) {
        run(seed, 64, 1);
        if (HasFatalFailure()) return;
    }
}

/// A second stage whose sizes the first one brought.
TEST(SimulatedCollectives, StagesFollowByThemselves) {
    constexpr Rank ranks = 5;
    World world(WorldShape{.rank_count = ranks, .ranks_per_node = 2}, 3);
    std::vector<Bytes> own{7, 0, 1000, 3, 1}, sizes(ranks);
    std::vector<ByteString> sent;
    ByteString got(1011), expected;
    for (Rank r = 0; r < ranks; ++r) {
        sent.emplace_back(static_cast<std::size_t>(own[static_cast<std::size_t>(r)]),
                          static_cast<std::byte>(r + 1));
        expected.insert(expected.end(), sent.back().begin(), sent.back().end());
    }
    std::vector<std::shared_ptr<CollectiveState>> states;
    for (Rank r = 0; r < ranks; ++r) {
        auto const self = static_cast<std::size_t>(r);
        CollectiveCall first;
        first.kind = CollectiveKind::gather;
        first.root = 2;
        first.block = sizeof(Bytes);
        CollectiveStage stage;
        stage.plan = plan_of(first, Algorithm::linear, r, ranks, 0);
        stage.buffers.input.add(reinterpret_cast<std::byte*>(&own[self]), sizeof(Bytes));
        if (r == 2) {
            stage.buffers.output.add(reinterpret_cast<std::byte*>(sizes.data()),
                                     ranks * static_cast<Bytes>(sizeof(Bytes)));
        }
        stage.next = [&, first, r, self](CollectiveState&) {
            CollectiveCall second = first;
            second.kind = CollectiveKind::gatherv;
            second.block = own[self];
            CollectiveStage data;
            if (r == 2) {
                second.outputs = sizes;
                data.buffers.output.add(got.data(), static_cast<Bytes>(got.size()));
            }
            data.plan = plan_of(second, Algorithm::linear, r, ranks, 0);
            data.buffers.input.add(sent[self].data(), own[self]);
            return data;
        };
        states.push_back(world.collective(r, std::move(stage), 0));
    }
    ASSERT_EQ(world.run(), "");
    for (auto const& state : states) ASSERT_TRUE(state->complete());
    EXPECT_EQ(sizes, own);
    EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace sluice::simulation_collectives_test
