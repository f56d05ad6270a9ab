// What must hold when things go wrong or astray in the simulation: failing storage, ends of files,
// bad arguments on one rank, operations of several files in different orders.
#include "drawn.hpp"
#include "simulated_faults.hpp"

#include <cerrno>

namespace sluice::simulation_fault_test {
namespace {

using namespace testing;

struct Fault {
    std::int64_t at;
    bool forever;
    int error = ENOSPC;
    Status status = Status::no_space;
};

/// Each rank that met the fault tells of it once, with what the system said; nobody else does.
void expect_reports(Reports const& reports, Fault const& fault) {
    ASSERT_EQ(reports.empty(), fault.at < 0);
    if (!fault.forever) {
        EXPECT_EQ(reports.size(), std::size_t{fault.at >= 0});
    }
    for (auto const& [rank, errors] : reports) {
        EXPECT_EQ(errors.size(), 1u) << "rank " << rank;
        EXPECT_EQ(errors.front().status, fault.status) << "rank " << rank;
        EXPECT_EQ(errors.front().code, fault.error) << "rank " << rank;
        EXPECT_GE(errors.front().offset, 0) << "rank " << rank;
        EXPECT_GT(errors.front().bytes, 0) << "rank " << rank;
    }
}

void expect_model(std::vector<std::byte> const& file, std::vector<std::byte> const& model) {
    ASSERT_GE(file.size(), model.size());
    for (std::size_t i = 0; i < model.size(); ++i) {
        ASSERT_EQ(file[i], model[i]) << "file offset " << i;
    }
}

WorldShape fault_shape() { return {fault_ranks, 2, 4096, 2}; }

// ---- Failing work of the program ---------------------------------------------------------------

/// What a rank's device does before its call fails: all ranks have the error, and those that follow
/// go on.
TEST(SimulationFault, WorkThatFailsBeforeACallIsAnErrorOfAllRanks) {
    for (auto const seed : FreshSeeds(3)) {
        World world(fault_shape(), seed);
        world.file(0).bytes.assign(60'000, untouched);
        auto parts = parts_with_holes(world);
        world.device(1).fail_after(0);
        std::vector<std::shared_ptr<Operation>> calls;
        for (Rank rank = 0; rank < fault_ranks; ++rank) {
            Call call = call_of(parts[static_cast<std::size_t>(rank)], Strategy::two_phase);
            if (rank == 1) call.after = world.device(rank).start(Direction::read, {});
            calls.push_back(world.call(rank, 0, std::move(call)));
        }
        auto const next = call_all(world, parts, Strategy::two_phase);
        EXPECT_EQ(world.run(), "");
        expect_status(calls, Status::buffer);
        expect_status(next, Status::ok);
    }
}

// ---- Failing storage ---------------------------------------------------------------------------

/// A write (or read) whose N-th storage call fails, then a clean one on the same operation queue.
/// Returns the number of storage calls of the first.
std::int64_t fail_once(Direction way, Strategy strategy, Fault const& fault) {
    World world(fault_shape(), 3);
    auto& file = world.file(0);
    file.bytes.assign(60'000, untouched);
    auto parts = parts_with_holes(world);
    if (way == Direction::read) turn_into_reads(parts, std::byte{0});
    file.fail_at = fault.at, file.fail_forever = fault.forever, file.fail_errno = fault.error;
    Reports reports;
    auto const first = call_all(world, parts, strategy, 0, &reports);
    EXPECT_EQ(world.run(), "");
    expect_reports(reports, fault);
    std::int64_t const calls = file.calls;
    expect_status(first, fault.at >= 0 ? fault.status : Status::ok);
    expect_holes_untouched(world, parts);

    file.fail_at = -1;  // What comes later on the same operation queue works.
    auto again = parts_with_holes(world);
    auto const second = call_all(world, again, strategy);
    EXPECT_EQ(world.run(), "");
    expect_status(second, Status::ok);
    auto model = std::vector<std::byte>(60'000, untouched);
    if (way == Direction::write) {
        for (Part const& part : parts) model_write(model, part);
    }
    for (Part const& part : again) model_write(model, part);
    if (fault.at < 0) expect_model(file.bytes, model);
    return calls;
}

void fail_every_call(Direction way, Strategy strategy) {
    std::int64_t const calls = fail_once(way, strategy, {-1, false});
    ASSERT_GT(calls, 3);
    for (std::int64_t n = 0; n < calls; ++n) {
        for (bool const forever : {false, true}) {
            SCOPED_TRACE("call " + std::to_string(n) + (forever ? " and all later ones" : ""));
            fail_once(way, strategy, {n, forever});
            fail_once(way, strategy, {n, forever, EIO, Status::io});
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(SimulatedFault, EveryCallOfATwoPhaseWriteFails) {
    fail_every_call(Direction::write, Strategy::two_phase);
}
TEST(SimulatedFault, EveryCallOfATwoPhaseReadFails) {
    fail_every_call(Direction::read, Strategy::two_phase);
}
TEST(SimulatedFault, EveryCallOfAnIndependentWriteFails) {
    fail_every_call(Direction::write, Strategy::independent);
}
TEST(SimulatedFault, EveryCallOfAnIndependentReadFails) {
    fail_every_call(Direction::read, Strategy::independent);
}

TEST(SimulatedFault, OthersUnderWayAreNotHarmed) {
    for (std::int64_t n = 0; n < 30; n += 3) {
        World world(fault_shape(), static_cast<std::uint64_t>(n) + 1);
        world.file(0).bytes.assign(100, untouched);
        world.file(0).fail_at = n;
        std::vector<std::vector<Part>> all;
        std::vector<Operations> operations;
        for (int k = 0; k < 4; ++k) {
            all.push_back(parts_of(world, fault_ranks, 0));
            for (Part& part : all.back()) part.request.view.displacement += k * 20'000;
        }
        for (auto& parts : all) operations.push_back(call_all(world, parts, Strategy::two_phase));
        ASSERT_EQ(world.run(), "");
        int failed = 0;
        for (auto const& of_one : operations) {
            failed += of_one[0]->status() != Status::ok;
            expect_status(of_one, of_one[0]->status());
        }
        EXPECT_EQ(failed, n < world.file(0).calls ? 1 : 0) << n;
    }
}

// ---- Bad arguments -----------------------------------------------------------------------------

TEST(SimulatedFault, ABadArgumentOfOneRankEndsTheCallOnAll) {
    for (auto const strategy : {Strategy::two_phase, Strategy::independent, Strategy::automatic}) {
        for (Rank bad = 0; bad < fault_ranks; ++bad) {
            World world(fault_shape(), 9);
            auto parts = parts_of(world, fault_ranks, 0);
            Operations all;
            for (Rank r = 0; r < fault_ranks; ++r) {
                Call call = call_of(parts[index(r)], strategy);
                if (r == bad) call.status = Status::count;
                all.push_back(world.call(r, 0, std::move(call)));
            }
            ASSERT_EQ(world.run(), "");
            expect_status(all, Status::count);
            auto const next = call_all(world, parts, strategy);
            ASSERT_EQ(world.run(), "");
            expect_status(next, Status::ok);
        }
    }
}

TEST(SimulatedFault, DifferentCallsOfTheRanksAreAMismatch) {
    World world(fault_shape(), 9);
    auto parts = parts_of(world, fault_ranks, 0);
    parts[2].request.direction = Direction::read;
    auto const all = call_all(world, parts, Strategy::two_phase);
    ASSERT_EQ(world.run(), "");
    expect_status(all, Status::mismatch);
}

TEST(SimulatedFault, HintsThatDifferDoNoHarm) {
    World world(fault_shape(), 9);
    auto parts = parts_of(world, fault_ranks, 0);
    Operations all;
    for (Rank r = 0; r < fault_ranks; ++r) {
        Call call = call_of(parts[index(r)], r % 2 ? Strategy::independent : Strategy::two_phase);
        call.hints.aggregator_count = r;
        all.push_back(world.call(r, 0, std::move(call)));
    }
    ASSERT_EQ(world.run(), "");
    expect_status(all, Status::ok);
    std::vector<std::byte> model;
    for (Part const& part : parts) model_write(model, part);
    auto const& file = world.file(0).bytes;
    for (std::size_t i = 5; i < model.size(); ++i) ASSERT_EQ(file[i], model[i]) << i;
    EXPECT_EQ(all[0]->summary_exchange().hints_differ, 1);
}

// ---- Ends of files -----------------------------------------------------------------------------

/// Bytes that a rank's read of interleaved pieces can get from a file of `size` bytes.
Bytes there(Part const& part, Offset size) {
    Bytes count = 0;
    for (Bytes i = 0; i < part.request.bytes; ++i) count += offset_in_file(part.request, i) < size;
    return count;
}

void read_from_file_of(Offset size, Strategy strategy, Rank per_node) {
    SCOPED_TRACE("file of " + std::to_string(size) + " bytes, " + std::to_string(per_node) +
                 " ranks a node");
    World world({4, per_node, 4096, 2}, 4);
    auto parts = parts_of(world, 4, 0);
    std::vector<std::byte> model;
    for (Part const& part : parts) model_write(model, part);
    model.resize(index(size));
    world.file(0).bytes = model;
    world.file(0).short_counts = size % 2 == 1;
    turn_into_reads(parts, untouched);
    auto const all = call_all(world, parts, strategy);
    ASSERT_EQ(world.run(), "");
    expect_status(all, Status::ok);
    for (std::size_t r = 0; r < parts.size(); ++r) {
        Bytes const count = there(parts[r], size);
        ASSERT_EQ(all[r]->bytes(), count) << "rank " << r;
        for (std::size_t i = 0; i < parts[r].memory.size(); ++i) {
            bool const read = i < index(count);
            auto const expected =
                read ? value_of(static_cast<Rank>(r), static_cast<Bytes>(i)) : untouched;
            ASSERT_EQ(parts[r].memory[i], expected) << "rank " << r << " byte " << i;
        }
    }
}

TEST(SimulatedFault, ReadsAcrossTheEndDeliverTheTrueCount) {
    for (Offset const size : {0, 1, 5, 6, 68, 69, 70, 300, 4095, 4096, 4097, 8191, 9999, 10'244}) {
        for (Rank const per_node : {1, 2, 4}) {
            read_from_file_of(size, Strategy::two_phase, per_node);
            read_from_file_of(size, Strategy::independent, per_node);
            if (HasFatalFailure()) return;
        }
    }
}

// ---- Ranks of different kinds ------------------------------------------------------------------

TEST(SimulatedFault, RanksWithNothing) {
    for (unsigned idle = 0; idle < 32; ++idle) {
        World world(fault_shape(), idle + 1);
        auto parts = parts_of(world, fault_ranks, 0);
        std::vector<std::byte> model;
        for (Rank r = 0; r < fault_ranks; ++r) {
            if (idle >> r & 1) parts[index(r)].request.bytes = 0;
            model_write(model, parts[index(r)]);
        }
        auto const all = call_all(world, parts, Strategy::two_phase);
        ASSERT_EQ(world.run(), "");
        expect_status(all, Status::ok);
        ASSERT_EQ(world.file(0).bytes, model) << idle;
        EXPECT_EQ(all[0]->bytes(), parts[0].request.bytes);
    }
}

/// Some ranks' parts are one piece and go straight to the file; the others' are exchanged.
TEST(SimulatedFault, IndependentAndInterleavedRanksTogether) {
    for (unsigned const seed : testing::FreshSeeds(8)) {
        World world(fault_shape(), seed);
        world.file(0).short_counts = seed % 2 == 0;
        auto parts = parts_of(world, fault_ranks, 0);
        for (Rank const r : {0, 3}) {
            parts[index(r)].request.view = {20'000 + 3000 * r, Layout::contiguous(), 1};
        }
        std::vector<std::byte> model;
        for (Part const& part : parts) model_write(model, part);
        auto const written = call_all(world, parts, Strategy::automatic);
        ASSERT_EQ(world.run(), "");
        expect_status(written, Status::ok);
        expect_model(world.file(0).bytes, model);
        turn_into_reads(parts, untouched);
        auto const read = call_all(world, parts, Strategy::automatic);
        ASSERT_EQ(world.run(), "");
        expect_status(read, Status::ok);
        for (Rank r = 0; r < fault_ranks; ++r) {
            EXPECT_EQ(read[index(r)]->bytes(), parts[index(r)].request.bytes);
            for (Bytes i = 0; i < parts[index(r)].request.bytes; ++i) {
                ASSERT_EQ(parts[index(r)].memory[index(i)], value_of(r, i)) << r << " " << i;
            }
        }
    }
}

// ---- Order -------------------------------------------------------------------------------------

/// Eight operations on each of two files; each rank alternates between the files in its own way.
TEST(SimulatedFault, TwoOperationQueuesStartedInDifferentOrders) {
    for (unsigned const seed : testing::FreshSeeds(10)) {
        WorldShape shape = fault_shape();
        shape.queue_count = 2;
        World world(shape, seed);
        std::vector<std::vector<Part>> parts[2];
        std::vector<std::byte> model[2];
        for (int s = 0; s < 2; ++s) {
            for (int k = 0; k < 8; ++k) {
                parts[s].push_back(parts_of(world, fault_ranks, 0));
                for (Part& part : parts[s].back()) {
                    part.request.view.displacement += k * 16'000;
                    model_write(model[s], part);
                }
            }
        }
        Operations all;
        for (Rank r = 0; r < fault_ranks; ++r) {
            std::size_t begun[2]{};
            while (begun[0] + begun[1] < 16) {
                auto s = world.time().draw(2);
                if (begun[s] == 8) s = 1 - s;
                Part& part = parts[s][begun[s]++][index(r)];
                all.push_back(world.call(r, static_cast<std::int32_t>(s),
                                         call_of(part, Strategy::two_phase)));
            }
        }
        ASSERT_EQ(world.run(), "") << "seed " << seed;
        expect_status(all, Status::ok);
        for (int s = 0; s < 2; ++s) expect_model(world.file(s).bytes, model[s]);
    }
}

}  // namespace
}  // namespace sluice::simulation_fault_test
