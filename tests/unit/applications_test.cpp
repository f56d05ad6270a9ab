// What the programs of the NVM study transfer: every byte once, in calls of the lengths asked for,
// in the order that each program has.
#include "bench/patterns/applications.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace sluice::patterns::applications_test {
namespace {

constexpr Rank rank_counts[] = {1, 2, 3, 4, 16};

ApplicationSpec small(std::string const& name) { return {name, 64 << 10, 4 << 10, 0, 3}; }

std::vector<Transfer> of_all(ApplicationSpec const& spec, Rank ranks, std::size_t step) {
    std::vector<Transfer> all;
    for (Rank rank = 0; rank < ranks; ++rank) {
        auto const steps = steps_of(spec, rank, ranks);
        auto const& own = steps.at(step).transfers;
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

Bytes bytes_of(std::vector<Transfer> const& transfers) {
    return std::accumulate(transfers.begin(), transfers.end(), Bytes{0},
                           [](Bytes sum, Transfer const& t) { return sum + t.bytes; });
}

std::vector<Transfer> only(std::vector<Transfer> const& transfers, Direction direction) {
    std::vector<Transfer> some;
    std::copy_if(transfers.begin(), transfers.end(), std::back_inserter(some),
                 [&](Transfer const& t) { return t.direction == direction; });
    return some;
}

/// The transfers are the bytes from `begin` to `end`, each once.
void expect_once(std::vector<Transfer> transfers, Offset begin, Offset end) {
    std::sort(transfers.begin(), transfers.end(),
              [](Transfer const& a, Transfer const& b) { return a.offset < b.offset; });
    for (Transfer const& transfer : transfers) {
        ASSERT_EQ(transfer.offset, begin);
        ASSERT_GT(transfer.bytes, 0);
        ASSERT_EQ(transfer.bytes % 8, 0);
        begin += transfer.bytes;
    }
    EXPECT_EQ(begin, end);
}

bool in_order(std::vector<Transfer> const& transfers) {
    return std::is_sorted(transfers.begin(), transfers.end(),
                          [](Transfer const& a, Transfer const& b) { return a.offset < b.offset; });
}

TEST(Applications, every_step_takes_each_byte_of_its_file_once) {
    for (auto const& name : application_names())
        for (Rank const ranks : rank_counts) {
            SCOPED_TRACE(name + " with " + std::to_string(ranks));
            auto const spec = small(name);
            auto const size = file_bytes(spec, ranks);
            auto const steps = steps_of(spec, 0, ranks);
            for (std::size_t i = 0; i < steps.size(); ++i) {
                auto const all = of_all(spec, ranks, i);
                bool const matrices = name == "madbench";
                bool const second = steps[i].name == "W" || steps[i].name == "C";
                for (auto const direction : {Direction::read, Direction::write}) {
                    auto const some = only(all, direction);
                    if (some.empty()) continue;
                    bool const results =
                        second && (direction == Direction::write) == (steps[i].name == "W");
                    Offset const begin = matrices && results ? size / 2 : 0;
                    expect_once(some, begin, matrices && !results ? size / 2 : size);
                }
            }
        }
}

TEST(Applications, ranks_have_the_bytes_that_were_asked_for) {
    for (auto const& name : application_names()) {
        auto const spec = small(name);
        for (Rank rank = 0; rank < 4; ++rank) {
            auto const bytes = bytes_of(steps_of(spec, rank, 4).front().transfers);
            EXPECT_NEAR(double(bytes), double(spec.bytes), 8 * 38) << name;
        }
    }
}

TEST(Applications, calls_are_no_longer_than_asked_for) {
    for (std::string const name : {"ior", "ior-random", "ior-ordered", "hacc", "s3asim"})
        for (auto const& step : steps_of(small(name), 1, 4))
            for (auto const& transfer : step.transfers) EXPECT_LE(transfer.bytes, 4 << 10) << name;
}

TEST(Applications, ior_deals_blocks_out_anew_for_each_segment_and_direction) {
    std::set<std::vector<Offset>> orders;
    for (std::size_t step = 0; step < 2; ++step) {
        std::vector<Offset> first, second;  // blocks of both segments, by rank
        for (Rank rank = 0; rank < 16; ++rank) {
            auto const transfers = steps_of(small("ior"), rank, 16).at(step).transfers;
            ASSERT_EQ(transfers.size(), 16u);
            EXPECT_TRUE(in_order(transfers));
            first.push_back(transfers[0].offset), second.push_back(transfers[8].offset);
            EXPECT_LT(transfers[7].offset, 16 * (32 << 10));
            EXPECT_GE(transfers[8].offset, 16 * (32 << 10));
        }
        for (auto& offset : second) offset -= 16 * (32 << 10);
        orders.insert(first), orders.insert(second);
    }
    EXPECT_EQ(orders.size(), 4u);
}

TEST(Applications, ior_in_order_is_each_process_own_blocks) {
    auto const steps = steps_of(small("ior-ordered"), 3, 4);
    for (auto const& step : steps) {
        EXPECT_EQ(step.transfers[0].offset, 3 * (32 << 10));
        EXPECT_EQ(step.transfers[8].offset, (4 + 3) * (32 << 10));
        EXPECT_TRUE(in_order(step.transfers));
    }
    EXPECT_FALSE(steps[0].is_cold);
    EXPECT_TRUE(steps[1].is_cold);
}

TEST(Applications, calls_without_an_order_have_none) {
    for (std::string const name : {"ior-random", "hacc"}) {
        auto const spec = small(name);
        EXPECT_FALSE(in_order(steps_of(spec, 0, 4)[0].transfers)) << name;
        auto const again = steps_of(spec, 0, 4);
        EXPECT_EQ(again[0].transfers, steps_of(spec, 0, 4)[0].transfers) << name;
        auto other = spec;
        other.seed = 4;
        EXPECT_NE(again[0].transfers, steps_of(other, 0, 4)[0].transfers) << name;
    }
}

TEST(Applications, hacc_writes_what_the_paper_says) {
    // 13,107,200 particles of each of 4 processes are "about 2 GB"; and arrays of whole pages.
    ApplicationSpec const spec{"hacc", Bytes{13'107'200} * 38, 1 << 20, 0, 1};
    EXPECT_EQ(file_bytes(spec, 4), Bytes{4} * 13'107'200 * 38);
}

TEST(Applications, madbench_reads_a_matrix_before_it_writes_its_result) {
    auto const steps = steps_of(small("madbench"), 2, 4);
    ASSERT_EQ(steps.size(), 3u);
    auto const &made = steps[0].transfers, &multiplied = steps[1].transfers,
               &summed = steps[2].transfers;
    ASSERT_EQ(made.size(), 8u);
    ASSERT_EQ(multiplied.size(), 16u);
    for (std::size_t i = 0; i < made.size(); ++i) {
        EXPECT_EQ(multiplied[2 * i], (Transfer{Direction::read, made[i].offset, made[i].bytes}));
        EXPECT_EQ(multiplied[2 * i + 1].direction, Direction::write);
        EXPECT_EQ(summed[i].offset, multiplied[2 * i + 1].offset);
        EXPECT_EQ(summed[i].direction, Direction::read);
    }
}

TEST(Applications, s3asim_queues_through_a_database_that_no_cache_holds) {
    auto const steps = steps_of(small("s3asim"), 1, 4);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_TRUE(steps[0].prepares);
    EXPECT_TRUE(steps[1].is_cold && !steps[1].prepares);
    EXPECT_TRUE(in_order(steps[1].transfers));
    std::set<Bytes> lengths;
    for (auto const& transfer : steps[1].transfers) lengths.insert(transfer.bytes);
    EXPECT_GT(lengths.size(), 10u);
}

}  // namespace
}  // namespace sluice::patterns::applications_test
