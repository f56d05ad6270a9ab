// Operations of one file that are called one after another and overlap: they end as if each had
// been complete before the next was called. The oracle is a serial byte model of the file.
#include "drawn.hpp"
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_order_test {
namespace {

using namespace testing;

constexpr std::size_t file_bytes = 400'000;

struct Step {
    Direction direction = Direction::write;
    std::vector<Part> parts;
    std::vector<std::vector<std::byte>> expected;  ///< Of a read, by rank.
    std::vector<std::shared_ptr<Operation>> operations;
};

/// The value depends on the step as well, so that the last one to write a byte is known.
std::byte value_in(std::size_t step, Rank rank, Bytes i) {
    return static_cast<std::byte>(std::to_integer<int>(value_of(rank, i)) ^
                                  static_cast<int>(step * 37));
}

/// All ranks draw the same kind, so that their parts of one step do not overlap.
Step drawn_step(World& world, std::size_t number, Rank ranks) {
    Step step;
    auto const kind = world.time().draw(3);
    step.direction = world.time().draw(3) == 0 ? Direction::read : Direction::write;
    auto const shift = static_cast<Offset>(world.time().draw(5)) * 300;
    for (Rank r = 0; r < ranks; ++r) {
        Part part;
        part.request = kind == 0 ? scattered(world.time(), r, ranks)
                       : kind == 1
                           ? interleaved(r, ranks, 64, 30, shift)
                           : Request{.view = {.displacement = shift + r * 900}, .bytes = 900};
        part.request.direction = step.direction;
        for (Bytes i = 0; i < part.request.bytes; ++i)
            part.memory.push_back(step.direction == Direction::write ? value_in(number, r, i)
                                                                     : std::byte{0});
        step.parts.push_back(std::move(part));
    }
    return step;
}

std::vector<std::byte> model_read(std::vector<std::byte> const& file, Request const& r) {
    std::vector<std::byte> bytes;
    for (Bytes i = 0; i < r.bytes; ++i) {
        auto const at = offset_in_file(r, i);
        bytes.push_back(file.at(static_cast<std::size_t>(at)));
    }
    return bytes;
}

/// What each step must read, and the file at the end.
std::vector<std::byte> run_serially(std::vector<Step>& steps) {
    std::vector<std::byte> file(file_bytes);
    for (Step& step : steps) {
        for (Part const& part : step.parts) {
            if (step.direction == Direction::write)
                model_write(file, part);
            else
                step.expected.push_back(model_read(file, part.request));
        }
    }
    return file;
}

void expect_bytes(std::vector<std::byte> const& found, std::vector<std::byte> const& expected,
                  std::string const& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    auto const [at, other] = std::mismatch(found.begin(), found.end(), expected.begin());
    ASSERT_EQ(at, found.end()) << what << ", byte " << at - found.begin() << ": "
                               << std::to_integer<int>(*at) << " and not "
                               << std::to_integer<int>(*other);
}

/// All calls are made before any operation begins.
void check_order(WorldShape shape, std::uint64_t seed, Strategy strategy) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " ranks " + std::to_string(shape.rank_count) +
                 " strategy " + std::to_string(static_cast<int>(strategy)));
    World world(shape, seed);
    world.file(0).bytes.assign(file_bytes, std::byte{0});
    std::vector<Step> steps;
    for (std::size_t i = 0; i < 7; ++i) steps.push_back(drawn_step(world, i, shape.rank_count));
    auto const expected = run_serially(steps);
    for (Step& step : steps) {
        for (Rank r = 0; r < shape.rank_count; ++r) {
            Call call = call_of(step.parts[static_cast<std::size_t>(r)], strategy);
            call.ordered = true;
            step.operations.push_back(world.call(r, 0, std::move(call)));
        }
    }
    ASSERT_EQ(world.run(), "");
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (auto const& operation : steps[i].operations)
            ASSERT_EQ(operation->status(), Status::ok) << "step " << i;
        for (std::size_t r = 0; r < steps[i].expected.size(); ++r)
            expect_bytes(steps[i].parts[r].memory, steps[i].expected[r],
                         "step " + std::to_string(i) + " rank " + std::to_string(r));
    }
    expect_bytes(world.file(0).bytes, expected, "file");
}

TEST(SimulationOrder, OverlappingOperationsEndAsIfOneAfterAnother) {
    for (unsigned const seed : testing::FreshSeeds(40)) {
        for (Strategy const strategy :
             {Strategy::automatic, Strategy::two_phase, Strategy::independent}) {
            check_order({1, 1, 4096, 1}, seed, strategy);
            check_order({4, 4, 4096, 2}, seed, strategy);
            check_order({5, 2, 4096, 3}, seed, strategy);
        }
    }
}

/// Pieces that lie between each other's: nothing has to wait, though the spans have common bytes.
TEST(SimulationOrder, InterleavedOperationsAreUnderWayTogether) {
    constexpr Rank ranks = 4;
    World world({ranks, 2, 4096, 2}, 5);
    world.file(0).bytes.assign(file_bytes, std::byte{0});
    std::vector<std::vector<Part>> steps(3);
    std::vector<std::shared_ptr<Operation>> operations;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (Rank r = 0; r < ranks; ++r) {
            Part part;
            auto const first = static_cast<Offset>(i) * ranks + r;
            part.request.view.filetype = std::make_shared<Layout const>(
                std::vector<sluice::Run>{{first * 64, 64, 0, 1}}, Offset{64} * 3 * ranks);
            part.request.bytes = 64 * 40;
            part.memory.assign(64 * 40, value_in(i, r, 1));
            steps[i].push_back(std::move(part));
        }
        for (Part& part : steps[i]) {
            Call call = call_of(part, Strategy::two_phase);
            call.ordered = true;
            operations.push_back(
                world.call(static_cast<Rank>(&part - steps[i].data()), 0, std::move(call)));
        }
    }
    ASSERT_EQ(world.run(), "");
    // The second one entered its exchange before the first one was complete.
    EXPECT_LT(operations[ranks]->ended() - operations[ranks]->tally().exchange -
                  operations[ranks]->tally().agreement,
              operations[0]->ended());
    std::vector<std::byte> expected;
    for (auto const& step : steps)
        for (Part const& part : step) model_write(expected, part);
    expected.resize(file_bytes);
    EXPECT_EQ(world.file(0).bytes, expected);
}

// ---- Different calls ---------------------------------------------------------------------------

Call ordered_call(Part& part, Direction way) {
    Call call = call_of(part, Strategy::automatic);
    call.request.direction = way;
    call.ordered = true;
    return call;
}

/// Whether it has to wait for the earlier reads depends on the call: all ranks must say the same,
/// also where some have called a read, and others a write.
void read_with_a_writer(Rank ranks, Rank per_node, Rank writer, std::uint64_t seed) {
    World world({ranks, per_node, 4096, 2}, seed);
    world.file(0).bytes.resize(file_bytes);
    std::vector<std::vector<Part>> parts;
    std::vector<std::vector<std::shared_ptr<Operation>>> calls(4);
    for (std::size_t k = 0; k < calls.size(); ++k) {
        parts.push_back(parts_of(world, ranks, 0));
        for (Rank r = 0; r < ranks; ++r) {
            auto const way = k == 1 && r == writer ? Direction::write : Direction::read;
            Part& part = parts[k][static_cast<std::size_t>(r)];
            calls[k].push_back(world.call(r, 0, ordered_call(part, way)));
        }
    }
    ASSERT_EQ(world.run(), "");
    for (std::size_t k = 0; k < calls.size(); ++k) {
        for (auto const& call : calls[k])
            ASSERT_EQ(call->status(), k == 1 ? Status::mismatch : Status::ok) << "call " << k;
    }
}

TEST(SimulatedOrder, ACallThatReadsOnSomeRanksAndWritesOnOthersEndsOnAll) {
    for (unsigned const seed : testing::FreshSeeds(10)) {
        for (Rank const per_node : {1, 2, 4}) {
            for (Rank const writer : {0, 1, 3}) {
                read_with_a_writer(4, per_node, writer, seed);
                if (HasFatalFailure()) return;
            }
        }
    }
}

}  // namespace
}  // namespace sluice::simulation_order_test
