// ROMIO's collective write in virtual time, against what its algorithm says: how many messages of
// which lengths there are, and how long they take where that can be worked out by hand.
#include "bench/patterns/pattern.hpp"
#include "study/romio/romio.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_romio_test {
namespace {

using namespace simulated;

Machine machine_of(Rank ranks) {
    Machine machine;
    machine.nodes = ranks, machine.ranks_per_node = 1;
    machine.start_seconds = 1, machine.byte_seconds = 0, machine.wake_seconds = 0;
    machine.copy_byte_seconds = 0, machine.piece_seconds = 0;
    machine.storage_start_seconds = 0, machine.storage_byte_seconds = 0;
    return machine;
}

RomioCall call_of(Rank ranks, std::string const& pattern, Bytes bytes, Bytes piece_bytes) {
    RomioCall call;
    call.machine = machine_of(ranks);
    call.aggregators = 2, call.stripe_bytes = 4096;
    patterns::PatternSpec spec;
    spec.name = pattern, spec.bytes = bytes, spec.piece_bytes = piece_bytes;
    call.request = [spec, ranks](Rank rank) {
        return patterns::make_request(spec, rank, ranks, Direction::write);
    };
    return call;
}

TEST(romio, exchanges_counts_and_sends_what_each_rank_has) {
    // 8 ranks, each with 64 bytes of every 512: all have 512 bytes of each stripe of 4,096.
    auto const outcome = run_romio(call_of(8, "strided", 2048, 64));
    ASSERT_EQ(outcome.fault, "");
    EXPECT_EQ(outcome.rounds, 2);  // 16 KiB, two aggregators
    EXPECT_EQ(outcome.senders, 8);
    EXPECT_EQ(outcome.requests, 8 * 32);
    // Three exchanges of counts with three steps, two lists and two messages of data for each
    // aggregator, but for its own.
    EXPECT_EQ(outcome.messages, 3 * 3 * 8 + 2 * 2 * 7 + 2 * 2 * 7);
    // A step of an exchange carries four of the eight counts of four bytes.
    Bytes const counts = 3 * 3 * 8 * 4 * 4, lists = 2 * 2 * 7 * 16 * 8, data = 4 * 7 * 512;
    EXPECT_EQ(outcome.message_bytes, counts + lists + data);
}

TEST(romio, an_exchange_of_counts_takes_its_steps) {
    for (Rank const ranks : {2, 3, 4, 7, 16, 33}) {
        auto call = call_of(ranks, "contiguous", 64, 64);
        call.stripe_bytes = 1 << 20;  // All in one stripe: one round.
        auto const outcome = run_romio(call);
        ASSERT_EQ(outcome.fault, "") << ranks;
        EXPECT_EQ(outcome.rounds, 1) << ranks;
        double steps = 0;
        for (Rank reached = 1; reached < ranks; reached *= 2) ++steps;
        // Rank 0 takes one message after the other: of each other rank two lists, then data.
        EXPECT_DOUBLE_EQ(outcome.seconds, 2 * steps + 3 * (ranks - 1)) << ranks;
        EXPECT_DOUBLE_EQ(outcome.parts[static_cast<std::size_t>(RomioPart::counts)] > 0, 1)
            << ranks;
    }
}

TEST(romio, counts_of_all_items_are_sent_once_a_bit) {
    // Of 6 items the numbers 1, 3, 5 have the first bit, 2, 3 the second, 4, 5 the third.
    auto call = call_of(6, "contiguous", 64, 64);
    call.stripe_bytes = 1 << 20, call.aggregators = 1;
    auto const outcome = run_romio(call);
    Bytes const counts = 2 * 6 * (3 + 2 + 2) * 4, lists = 2 * 5 * 8, data = 5 * 64;
    EXPECT_EQ(outcome.message_bytes, counts + lists + data);
}

TEST(romio, a_long_queue_costs_each_message) {
    auto call = call_of(64, "contiguous", 64, 64);
    call.stripe_bytes = 1 << 20;
    double const without = run_romio(call).seconds;
    call.machine.queue_seconds = 0.01;
    EXPECT_GT(run_romio(call).seconds, without + 63 * 31 * 0.01);
}

TEST(romio, waits_for_a_write_before_the_next_round) {
    auto call = call_of(4, "contiguous", 4096, 64);
    call.aggregators = 1;
    call.machine.storage_start_seconds = 100;
    auto const outcome = run_romio(call);
    EXPECT_EQ(outcome.rounds, 4);
    EXPECT_GE(outcome.seconds, 4 * 100);
    EXPECT_LT(outcome.seconds, 4 * 100 + 40);
}

TEST(romio, equal_seeds_give_equal_times) {
    auto call = call_of(32, "random", 4096, 64);
    call.machine.noise_seconds = 0.1;
    auto const once = run_romio(call), again = run_romio(call);
    EXPECT_EQ(once.seconds, again.seconds);
    call.seed = 2;
    EXPECT_NE(run_romio(call).seconds, once.seconds);
}

}  // namespace
}  // namespace sluice::simulation_romio_test
