// A simulated process ends amid operations on files.
#include "simulated_faults.hpp"

namespace sluice::simulation_end_test {
namespace {

using namespace testing;

/// A rank of a node ends at every step of a call in turn: the others have an error in time, or had
/// finished, and so have later calls. What nobody asked for is as it was.
void end_a_rank(Direction way, Strategy strategy, Rank rank, std::int64_t after) {
    World world({fault_ranks, fault_ranks, 4096, 2}, 5);
    world.file(0).bytes.assign(60'000, untouched);
    auto parts = parts_with_holes(world);
    if (way == Direction::read) turn_into_reads(parts, std::byte{0});
    world.kill(rank, after);
    auto first = call_all(world, parts, strategy);
    auto again = parts_with_holes(world);
    auto second = call_all(world, again, strategy);
    ASSERT_EQ(world.run(), "");
    auto both = parts;
    both.insert(both.end(), again.begin(), again.end());
    expect_holes_untouched(world, both);
    first.erase(first.begin() + rank), second.erase(second.begin() + rank);
    first.insert(first.end(), second.begin(), second.end());
    for (auto const& one : first) {
        ASSERT_TRUE(one->complete());
        ASSERT_TRUE(one->status() == Status::ok || one->status() == Status::other);
    }
    world.kill(rank, 0);  // Where it had more time than the calls took.
    auto third = parts_with_holes(world);
    auto late = call_all(world, third, strategy);
    ASSERT_EQ(world.run(), "");
    late.erase(late.begin() + rank);
    expect_status(late, Status::other);
}

TEST(SimulatedEnd, ARankThatHasEndedIsAnErrorOfTheOthers) {
    for (auto const strategy : {Strategy::two_phase, Strategy::independent}) {
        for (auto const way : {Direction::write, Direction::read}) {
            for (Rank const rank : {0, 1, fault_ranks - 1}) {
                for (std::int64_t after = 0; after < 16; ++after) {
                    SCOPED_TRACE("rank " + std::to_string(rank) + " after " +
                                 std::to_string(after));
                    end_a_rank(way, strategy, rank, after);
                    if (::testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
}

}  // namespace
}  // namespace sluice::simulation_end_test
