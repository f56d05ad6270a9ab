// Writes whose calls have returned before the operation has ended, as write-behind makes them: a
// rank's bytes reach the file whatever becomes of the operation, unless storage refuses them.
#include "drawn.hpp"
#include "simulated_faults.hpp"

#include <cerrno>

namespace sluice::simulation_delayed_test {
namespace {

using namespace testing;

constexpr std::size_t file_bytes = 60'000;
constexpr Offset elsewhere_at = 30'000;

/// One collective write; `kept` lives as long as the library keeps the bytes.
struct Delayed {
    std::vector<Part> parts;
    std::vector<std::weak_ptr<int>> kept;
    Operations operations;
};

Call delayed_call(Part& part, Strategy strategy, Delayed& all) {
    Call call;
    call.request = part.request;
    call.user = part.memory.data();
    call.hints.write = call.hints.read = strategy;
    call.ordered = true;
    auto const kept = std::make_shared<int>();
    call.keeps = kept;
    all.kept.push_back(kept);
    return call;
}

/// Pieces of all ranks with holes behind them, for several rounds of two aggregators.
std::vector<Part> places_at(Offset displacement) {
    std::vector<Part> parts;
    for (Rank r = 0; r < fault_ranks; ++r) {
        Part part;
        part.request = interleaved(r, fault_ranks + 2, 64, 40, displacement);
        part.request.bytes += 10 * r;
        part.memory.resize(index(part.request.bytes));
        parts.push_back(std::move(part));
    }
    return parts;
}

/// Each rank the places of rank + `turn`, with values of `number`.
Delayed drawn(std::vector<Part> const& places, int number, Rank turn = 0) {
    Delayed all;
    for (Rank r = 0; r < fault_ranks; ++r) {
        Part part = places[index((r + turn) % fault_ranks)];
        for (Bytes i = 0; i < part.request.bytes; ++i)
            part.memory[index(i)] = value_of(10 * number + r, i);
        all.parts.push_back(std::move(part));
    }
    return all;
}

void call_all(World& world, Delayed& all, Strategy strategy, Reports* reports = nullptr) {
    for (Rank r = 0; r < fault_ranks; ++r) {
        Call call = delayed_call(all.parts[index(r)], strategy, all);
        if (reports)
            call.report_error = [=](Operation const& met) { (*reports)[r].push_back(met.error()); };
        all.operations.push_back(world.call(r, 0, std::move(call)));
    }
}

void expect_in_file(World& world, Part const& part, Rank rank) {
    auto const& file = world.file(0).bytes;
    for (Bytes i = 0; i < part.request.bytes; ++i) {
        auto const at = index(offset_in_file(part.request, i));
        ASSERT_LT(at, file.size()) << "rank " << rank;
        ASSERT_EQ(file[at], part.memory[index(i)]) << "rank " << rank << ", file offset " << at;
    }
}

void expect_ended(Delayed const& all, Rank but) {
    for (Rank r = 0; r < fault_ranks; ++r) {
        if (r == but) continue;
        ASSERT_TRUE(all.operations[index(r)]->complete());
        ASSERT_TRUE(all.kept[index(r)].expired());
    }
}

// ---- Lost ranks --------------------------------------------------------------------------------

/// Two writes to the same places and one to others are under way when a rank of the node ends.
void end_a_rank(Strategy strategy, Rank lost, std::int64_t after) {
    World world({fault_ranks, fault_ranks, 4096, 2}, 5 + static_cast<std::uint64_t>(after));
    world.file(0).bytes.assign(file_bytes, untouched);
    world.file(0).short_counts = after % 2 == 1;
    auto const places = places_at(5), elsewhere = places_at(elsewhere_at);
    std::vector<Delayed> all{drawn(places, 1), drawn(places, 2), drawn(elsewhere, 3)};
    world.kill(lost, after);
    for (Delayed& one : all) call_all(world, one, strategy);
    ASSERT_EQ(world.run(), "");
    for (Delayed const& one : all) expect_ended(one, lost);
    for (Rank r = 0; r < fault_ranks; ++r) {
        if (r == lost) continue;
        expect_in_file(world, all[1].parts[index(r)], r);
        expect_in_file(world, all[2].parts[index(r)], r);
        for (Delayed const& one : all) {
            Status const status = one.operations[index(r)]->status();
            ASSERT_TRUE(status == Status::ok || status == Status::other);
        }
    }
    auto asked = places;
    asked.insert(asked.end(), elsewhere.begin(), elsewhere.end());
    expect_holes_untouched(world, asked);
}

TEST(SimulatedDelayed, ALostRankTakesNoBytesOfOthersWithIt) {
    for (auto const strategy : {Strategy::two_phase, Strategy::independent, Strategy::automatic}) {
        for (Rank const rank : {0, 1, fault_ranks - 1}) {
            for (std::int64_t after = 0; after < 40; ++after) {
                SCOPED_TRACE("rank " + std::to_string(rank) + " after " + std::to_string(after));
                end_a_rank(strategy, rank, after);
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

/// What is lost then is told, though the operation has failed before.
TEST(SimulatedDelayed, StorageThatRefusesBytesAfterALossIsReported) {
    World world({fault_ranks, fault_ranks, 4096, 2}, 5);
    world.file(0).bytes.assign(file_bytes, untouched);
    world.file(0).fail_at = 0, world.file(0).fail_forever = true;
    Delayed all = drawn(places_at(5), 1);
    Reports reports;
    world.kill(2, 0);
    call_all(world, all, Strategy::two_phase, &reports);
    ASSERT_EQ(world.run(), "");
    for (Rank r = 0; r < fault_ranks; ++r) {
        if (r == 2) continue;
        ASSERT_FALSE(reports[r].empty()) << "rank " << r;
        EXPECT_EQ(reports[r].back().code, ENOSPC) << "rank " << r;
        EXPECT_GE(reports[r].back().offset, 0) << "rank " << r;
        EXPECT_TRUE(all.kept[index(r)].expired());
    }
    expect_ended(all, 2);
}

// ---- Errors of others --------------------------------------------------------------------------

/// No bytes are missing but in the window, or of the rank, whose write was refused.
std::int64_t refuse(Strategy strategy, std::int64_t call) {
    World world({fault_ranks, 2, 4096, 2}, 3);
    auto& file = world.file(0);
    file.bytes.assign(file_bytes, untouched);
    file.fail_at = call, file.fail_errno = EIO;
    Delayed all = drawn(places_at(5), 1);
    Reports reports;
    call_all(world, all, strategy, &reports);
    EXPECT_EQ(world.run(), "");
    expect_status(all.operations, call < file.calls ? Status::io : Status::ok);
    if (call >= file.calls) return file.calls;
    EXPECT_EQ(reports.size(), 1u);
    auto const& [who, errors] = *reports.begin();
    Offset const refused = errors.front().offset;
    for (Rank r = 0; r < fault_ranks; ++r) {
        if (strategy == Strategy::independent && r == who) continue;
        Part const& part = all.parts[index(r)];
        for (Bytes i = 0; i < part.request.bytes; ++i) {
            Offset const at = offset_in_file(part.request, i);
            if (strategy == Strategy::two_phase && at >= refused && at < refused + 4096) continue;
            EXPECT_EQ(file.bytes[index(at)], part.memory[index(i)])
                << "rank " << r << ", file offset " << at << ", refused at " << refused;
        }
    }
    return file.calls;
}

TEST(SimulatedDelayed, StorageThatRefusesBytesOfOneWindowGetsTheOthers) {
    for (auto const strategy : {Strategy::two_phase, Strategy::independent}) {
        std::int64_t calls = 1;
        for (std::int64_t call = 0; call < calls; ++call) {
            SCOPED_TRACE("call " + std::to_string(call));
            calls = refuse(strategy, call);
            if (::testing::Test::HasFailure()) return;
        }
        ASSERT_GT(calls, 3);
    }
}

/// The call of one rank is a bad one, or a read. What comes next goes over the same places, of
/// which each rank has another's: it must win.
void misuse(Strategy strategy, Rank bad, bool reads, std::uint64_t seed) {
    World world({fault_ranks, 2, 4096, 2}, seed);
    world.file(0).bytes.assign(file_bytes, untouched);
    auto const places = places_at(5);
    Delayed first = drawn(places, 1), second = drawn(places, 2, 1);
    for (Rank r = 0; r < fault_ranks; ++r) {
        Call call = delayed_call(first.parts[index(r)], strategy, first);
        if (r == bad && reads) call.request.direction = Direction::read;
        if (r == bad && !reads) call.status = Status::count;
        if (r == bad) call.keeps = nullptr;
        first.operations.push_back(world.call(r, 0, std::move(call)));
    }
    bool const goes_on = seed % 2 == 0;
    if (goes_on) call_all(world, second, strategy);
    ASSERT_EQ(world.run(), "");
    expect_status(first.operations, reads ? Status::mismatch : Status::count);
    expect_ended(first, bad);
    for (Rank r = 0; r < fault_ranks; ++r) {
        if (goes_on)
            expect_in_file(world, second.parts[index(r)], r);
        else if (r != bad)
            expect_in_file(world, first.parts[index(r)], r);
    }
}

TEST(SimulatedDelayed, ABadCallOfOneRankTakesNoBytesOfOthersWithIt) {
    for (auto const strategy : {Strategy::two_phase, Strategy::independent, Strategy::automatic}) {
        for (Rank bad = 0; bad < fault_ranks; ++bad) {
            for (unsigned const seed : testing::FreshSeeds(10)) {
                for (bool const reads : {false, true}) {
                    SCOPED_TRACE("rank " + std::to_string(bad) + " seed " + std::to_string(seed));
                    misuse(strategy, bad, reads, seed);
                    if (::testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
}

}  // namespace
}  // namespace sluice::simulation_delayed_test
