// What a rank says of a collective call that does not move on, to the people who run the program.
#include "file/run/stall.hpp"
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_stall_test {
namespace {

using namespace testing;

constexpr Rank ranks = 8;

/// The line of the first rank that waits, where these ranks make no call.
std::string line_without(std::vector<Rank> const& missing, Rank per_node, int earlier_calls = 0) {
    World world({ranks, per_node, 4096, 2}, 7);
    std::vector<Part> parts = parts_of(world, ranks, 0);
    for (int i = 0; i < earlier_calls; ++i) {
        for (Rank r = 0; r < ranks; ++r)
            world.call(r, 0, call_of(parts[static_cast<std::size_t>(r)], Strategy::two_phase));
        EXPECT_EQ(world.run(), "");
    }
    for (Rank r = 0; r < ranks; ++r) {
        if (std::ranges::find(missing, r) != missing.end()) continue;
        Call call = call_of(parts[static_cast<std::size_t>(r)], Strategy::two_phase);
        call.function = "MPI_File_write_all", call.file = "/a/b";
        world.call(r, 0, std::move(call));
    }
    return world.run();
}

void expect_line(std::string const& line, std::string const& sentence) {
    std::string const whole =
        "stuck: MPI_File_write_all on /a/b waits for " + sentence + " [operation ";
    EXPECT_EQ(line.substr(0, whole.size()), whole);
    EXPECT_EQ(line.back(), ']');
}

TEST(SimulatedStall, TheRanksOfTheNodeThatHaveNotMadeTheCallAreNamed) {
    expect_line(line_without({1}, ranks), "rank 1, which has not called it");
    expect_line(line_without({1, 3, 4, 5, 7}, ranks),
                "ranks 1, 3-5, 7 (5 of 8), which have not called it");
    // Boards are used again, and what earlier calls left there says nothing.
    expect_line(line_without({6}, ranks, 40), "rank 6, which has not called it");
}

TEST(SimulatedStall, OfOtherNodesItIsNotKnownWhoIsMissing) {
    expect_line(line_without({5, 6}, 4),
                "one or more of the 4 ranks of other nodes; none of this node is missing");
    expect_line(line_without({1, 2, 5}, 4),
                "ranks 1-2 (2 of 4 of this node), which have not called it, and perhaps for ranks "
                "of other nodes");
}

TEST(SimulatedStall, TheInternalStateFollowsInBrackets) {
    std::string const line = line_without({1}, ranks);
    EXPECT_NE(line.find("stage exchange of summaries, await arrived[0,0] >= 8 (stands at 7)]"),
              std::string::npos)
        << line;
}

TEST(Stall, WhatIsNotKnownIsLeftOut) {
    EXPECT_EQ(describe(Stall{.awaits_calls = true, .missing = 2, .here = 4, .all = 4}),
              "a collective call waits for 2 of the 4 ranks, which have not come to it");
    EXPECT_EQ(describe(Stall{.file = "/a/b", .reason = TraceWait::file}),
              "a collective call on /a/b waits for the file system, which has not ended a "
              "transfer");
}

}  // namespace
}  // namespace sluice::simulation_stall_test
