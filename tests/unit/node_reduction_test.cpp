// Reductions over the ranks of a node, which are threads here, against the largest of words that
// everybody can work out.
#include "common_doorbells.hpp"
#include "transport/node_reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace sluice::node_reduction_test {
namespace {

using Words = NodeReduction::Words;

Words words_of(int number, Rank rank) {
    std::mt19937_64 random(static_cast<std::uint64_t>(number) * 1000 +
                           static_cast<std::uint64_t>(rank));
    Words words{};
    for (auto& word : words) word = random() >> random() % 64;
    return words;
}

Words largest_of(int number, Rank ranks) {
    Words all{};
    for (Rank rank = 0; rank < ranks; ++rank) {
        Words const words = words_of(number, rank);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], words[i]);
    }
    return all;
}

std::int64_t number_of(int number, Rank rank) { return number * 7 % 11 * rank; }

/// Sleeps for so long that a ring that is missing would be noticed.
void wait_for(NodeReduction& reduction, EventCount& doorbell) {
    for (;;) {
        std::uint32_t const seen = doorbell.events.load();
        if (reduction.finished()) return;
        wait_for_event(doorbell, seen, 30);
    }
}

struct Node {
    explicit Node(Rank count) : ranks(count), doorbells(static_cast<std::size_t>(count)) {
        memory.resize(NodeReduction::bytes_needed(ranks) / sizeof(Line));
    }
    std::byte* at() { return reinterpret_cast<std::byte*>(memory.data()); }

    struct alignas(64) Line {
        std::byte bytes[64]{};
    };
    Rank ranks;
    std::vector<EventCount> doorbells;
    std::vector<Line> memory;
};

/// How many of its results were wrong. Before some of them the rank dawdles.
int wrong_results(Node& node, Rank self, int count) {
    CommonDoorbells doorbells(node.doorbells.data());
    NodeReduction reduction(node.at(), self, node.ranks, doorbells);
    std::mt19937 random(static_cast<unsigned>(self));
    int wrong = 0;
    for (int number = 0; number < count; ++number) {
        if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        std::int64_t before = 0, all = 0;
        for (Rank rank = 0; rank < node.ranks; ++rank) {
            before += rank < self ? number_of(number, rank) : 0;
            all += number_of(number, rank);
        }
        Words expected = largest_of(number, node.ranks);
        expected[0] = static_cast<std::uint64_t>(all);
        reduction.begin(
            words_of(number, self), number_of(number, self),
            [](Words& words, std::int64_t sum) { words[0] = static_cast<std::uint64_t>(sum); });
        wait_for(reduction, node.doorbells[static_cast<std::size_t>(self)]);
        wrong += reduction.largest() != expected || reduction.sum_before() != before;
    }
    return wrong;
}

TEST(NodeReduction, AllRanksHaveTheLargestWordsAndTheSumBeforeThem) {
    for (Rank const ranks : {1, 2, 3, 7}) {
        Node node(ranks);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (Rank self = 0; self < ranks; ++self)
            threads.emplace_back([&, self] { wrong += wrong_results(node, self, 1000); });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(wrong, 0) << ranks;
    }
}

/// Nobody has the result before the last one has begun.
TEST(NodeReduction, EachRankIsWaitedFor) {
    constexpr Rank ranks = 3;
    Node node(ranks);
    CommonDoorbells doorbells(node.doorbells.data());
    std::vector<NodeReduction> all;
    for (Rank self = 0; self < ranks; ++self) all.emplace_back(node.at(), self, ranks, doorbells);
    for (int number = 0; number < 6; ++number) {
        for (Rank late = 0; late < ranks; ++late) {
            Rank const self = (number + late) % ranks;
            NodeReduction& next = all[static_cast<std::size_t>(self)];
            next.begin(words_of(number, self));
            EXPECT_TRUE(late + 1 == ranks || !next.finished());
        }
        EXPECT_TRUE(all[0].finished());
        for (NodeReduction& one : all) {
            EXPECT_TRUE(one.finished());
            EXPECT_EQ(one.largest(), largest_of(number, ranks));
        }
    }
}

/// A sum that no number can say is the largest one.
TEST(NodeReduction, SumsDoNotOverflow) {
    constexpr Rank ranks = 3;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Node node(ranks);
    CommonDoorbells doorbells(node.doorbells.data());
    std::vector<NodeReduction> all;
    std::int64_t sum = 0;
    for (Rank self = 0; self < ranks; ++self) all.emplace_back(node.at(), self, ranks, doorbells);
    for (NodeReduction& one : all)
        one.begin({}, most - 1, [&](Words&, std::int64_t of_all) { sum = of_all; });
    for (NodeReduction& one : all) EXPECT_TRUE(one.finished());
    EXPECT_EQ(all[1].sum_before(), most - 1);
    EXPECT_EQ(all[2].sum_before(), most);
    EXPECT_EQ(sum, most);
}

}  // namespace
}  // namespace sluice::node_reduction_test
