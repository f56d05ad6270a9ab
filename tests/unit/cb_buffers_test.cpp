// Which rounds get collective buffers: the pool of a node against a set, from one and from several
// threads; the order of rounds against a list; and jobs of several nodes that run short, in any
// order of their steps, which end by that order and do not without it.
#include "drawn.hpp"
#include "file/plan/round_order.hpp"
#include "file/run/cb_buffer_pool.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <ranges>
#include <rapidcheck/gtest.h>
#include <set>
#include <thread>

namespace sluice::cb_buffers_test {
namespace {

constexpr Bytes mebibyte = Bytes{1} << 20;

// ---- Memory ------------------------------------------------------------------------------------

TEST(Staging, AThousandAggregatorsKeepTheirWindows) {
    Bytes const memory = 256 * mebibyte;
    EXPECT_EQ(cb_buffer_bytes_within(memory, cb_buffers_needed(1024), mebibyte), mebibyte);
    EXPECT_EQ(cb_buffers_within(memory, 1024, mebibyte), 227);
    EXPECT_EQ(cb_buffers_within(memory, 2, mebibyte), 9);
    EXPECT_EQ(cb_buffers_within(memory, 1024, 4096), cb_buffers_most);
}

TEST(Staging, WindowsShrinkWhereANodeHasNoMemoryForAFew) {
    EXPECT_EQ(cb_buffer_bytes_within(11 * mebibyte, cb_buffers_needed(1024), mebibyte), mebibyte);
    EXPECT_EQ(cb_buffer_bytes_within(10 * mebibyte, cb_buffers_needed(1024), mebibyte),
              mebibyte / 2);
    EXPECT_EQ(cb_buffer_bytes_within(0, cb_buffers_needed(1), mebibyte), 4096);
}

// ---- The pool ----------------------------------------------------------------------------------

/// Takes and gives as a list of numbers says: 0 gives the oldest back, others are windows.
RC_GTEST_PROP(CbBufferPool, IsASetOfAtMostSoManyThatHaveMemory, ()) {
    auto const count = *rc::gen::inRange(1, cb_buffers_most + 1);
    auto const room = *rc::gen::inRange(0, 20);
    CbBufferPool pool;
    std::set<std::int32_t> used;
    std::map<std::int32_t, Bytes> backed;
    auto const back = [&](std::int32_t at) {
        bool const there = backed.contains(at) || static_cast<int>(backed.size()) < room;
        if (there) backed[at] = 8, pool.set_backed(at, 8);
        return there;
    };
    for (int const step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5))) {
        if (step == 0 && !used.empty()) {
            pool.give(*used.begin());
            used.erase(used.begin());
        }
        if (step < 2) pool.may_grow();
        if (step == 0) continue;
        Bytes const window = step;
        auto const got = pool.take(count, window, back);
        int free = 0;
        for (auto const& [at, bytes] : backed) free += used.contains(at) ? 0 : 1;
        if (got < 0) {
            RC_ASSERT(free == 0);
            RC_ASSERT(static_cast<int>(used.size()) == std::min(room, count - 1));
            continue;
        }
        RC_ASSERT(got > CbBufferPool::last_resort && got < count);
        RC_ASSERT(used.insert(got).second);
        RC_ASSERT(pool.backed_bytes(got) >= window);
        RC_ASSERT(!pool.is_free(got));
    }
    RC_ASSERT(pool.take_last_resort());
    RC_ASSERT(!pool.take_last_resort());
    pool.give(CbBufferPool::last_resort);
    RC_ASSERT(pool.take_last_resort());
}

TEST(CbBufferPool, ThreadsNeverHaveTheSameOne) {
    CbBufferPool pool;
    constexpr std::int32_t count = 5;
    std::array<std::atomic<int>, count> holders{};
    std::atomic<int> shared{0}, taken{0};
    auto const work = [&] {
        for (int i = 0; i < 20'000; ++i) {
            auto const at = pool.take(count, 1, [&](std::int32_t which) {
                pool.set_backed(which, 1);
                return true;
            });
            if (at < 0) continue;
            ++taken;
            if (holders[static_cast<std::size_t>(at)].fetch_add(1) != 0) ++shared;
            holders[static_cast<std::size_t>(at)].fetch_sub(1);
            pool.give(at);
        }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(work);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(shared, 0);
    EXPECT_GT(taken, 20'000);
}

// ---- The order ---------------------------------------------------------------------------------

struct Round {
    std::int64_t operation;
    std::int64_t number;  ///< Of the operation.
    std::int32_t aggregator;
    auto operator<=>(Round const&) const = default;
};

/// Operations with drawn numbers of rounds, and all their rounds in order.
struct Work {
    explicit Work(std::vector<std::vector<int>> const& rounds) {
        std::map<std::int32_t, std::int64_t> next;
        plans.resize(rounds.size());
        first.resize(rounds.size());
        for (std::size_t k = 0; k < rounds.size(); ++k) {
            plans[k].window_bytes = 4096;
            for (std::size_t a = 0; a < rounds[k].size(); ++a) {
                auto const aggregator = static_cast<std::int32_t>(a);
                plans[k].domains.push_back({0, rounds[k][a] * Bytes{4096}});
                first[k].push_back(next[aggregator]);
                next[aggregator] += rounds[k][a];
                for (std::int64_t i = 0; i < rounds[k][a]; ++i)
                    all.insert({static_cast<std::int64_t>(k), i, aggregator});
            }
        }
    }
    std::int64_t queue_round(Round const& round) const {
        return first[static_cast<std::size_t>(round.operation)]
                    [static_cast<std::size_t>(round.aggregator)] +
               round.number;
    }
    RoundOrder order() const {
        RoundOrder order;
        for (std::size_t k = 0; k < plans.size(); ++k)
            order.add(static_cast<std::int64_t>(k), plans[k], first[k]);
        return order;
    }
    std::vector<Plan> plans;
    std::vector<std::vector<std::int64_t>> first;
    std::set<Round> all;
};

auto const some_rounds = rc::gen::container<std::vector<std::vector<int>>>(
    rc::gen::container<std::vector<int>>(3, rc::gen::inRange(0, 4)));

/// What has ended, of aggregators and rounds of the operation queue.
using Ended = std::set<std::pair<std::int32_t, std::int64_t>>;

RC_GTEST_PROP(RoundOrder, OnlyTheFirstThatHasNotEndedIsNext, ()) {
    auto const rounds = *some_rounds;
    Work const work(rounds);
    RoundOrder order = work.order();
    Ended ended;
    auto const has_ended = [&](std::int32_t a, std::int64_t r) { return ended.contains({a, r}); };
    auto left = work.all;
    while (!left.empty()) {
        for (Round const& round : left) {
            bool const next = order.is_next(round.operation, round.aggregator,
                                            work.queue_round(round), has_ended);
            RC_ASSERT(next == (round == *left.begin()));
        }
        auto gone = left.begin();
        std::advance(gone, *rc::gen::inRange<std::size_t>(0, left.size()));
        ended.insert({gone->aggregator, work.queue_round(*gone)});
        left.erase(gone);
    }
}

// ---- Nodes that run short ----------------------------------------------------------------------

/// Each round needs a collective buffer on some nodes, gets them one by one, and ends when it has
/// all: as a round in which every node waits for every other one.
class Job {
public:
    Job(Work const& work, int nodes, int buffers, bool orders, std::mt19937& random)
        : work_(work),
          buffers_(buffers),
          orders_(orders),
          random_(random),
          order_(static_cast<std::size_t>(nodes), work.order()),
          pools_(static_cast<std::size_t>(nodes)),
          ended_(static_cast<std::size_t>(nodes)) {
        for (Round const& round : work.all)
            for (int node = 0; node < nodes; ++node)
                if (draw(2) == 0) needs_[round].insert(node);
    }

    /// How many rounds are left when nothing moves any more.
    std::size_t run() {
        auto left = std::vector<Round>(work_.all.begin(), work_.all.end());
        for (bool moved = true; moved;) {
            moved = false;
            std::shuffle(left.begin(), left.end(), random_);
            for (Round const& round : left) moved |= step(round);
            std::erase_if(left, [&](Round const& round) { return done_.contains(round); });
        }
        return left.size();
    }

private:
    int draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

    /// An aggregator has four rounds under way at most.
    bool may_begin(Round const& round) const {
        auto const number = work_.queue_round(round);
        return number < 4 || ended_[0].contains({round.aggregator, number - 4});
    }
    /// Nodes get to the round at different times: one in a step.
    bool step(Round const& round) {
        if (!may_begin(round)) return false;
        auto& has = has_[round];
        std::vector<int> missing;
        std::ranges::set_difference(needs_[round], has | std::views::keys,
                                    std::back_inserter(missing));
        std::shuffle(missing.begin(), missing.end(), random_);
        for (int const node : missing) {
            auto const at = take(round, static_cast<std::size_t>(node));
            if (at < 0) continue;
            has[node] = at;
            return true;
        }
        if (!missing.empty()) return false;
        for (auto const& [node, at] : has) pools_[static_cast<std::size_t>(node)].give(at);
        for (auto& ended : ended_) ended.insert({round.aggregator, work_.queue_round(round)});
        done_.insert(round);
        return true;
    }
    std::int32_t take(Round const& round, std::size_t node) {
        CbBufferPool& pool = pools_[node];
        auto const got = pool.take(buffers_ + 1, 1, [&](std::int32_t at) {
            pool.set_backed(at, 1);
            return true;
        });
        if (got >= 0) return got;
        auto const ended = [&](std::int32_t a, std::int64_t r) {
            return ended_[node].contains({a, r});
        };
        bool const next = !orders_ || order_[node].is_next(round.operation, round.aggregator,
                                                           work_.queue_round(round), ended);
        return next && pool.take_last_resort() ? CbBufferPool::last_resort : -1;
    }

    Work const& work_;
    int buffers_;
    bool orders_;
    std::mt19937& random_;
    std::vector<RoundOrder> order_;
    std::vector<CbBufferPool> pools_;
    std::vector<Ended> ended_;
    std::map<Round, std::set<int>> needs_;
    std::map<Round, std::map<int, std::int32_t>> has_;
    std::set<Round> done_;
};

TEST(RoundOrder, JobsThatRunShortEndByItAndNotWithoutIt) {
    int stuck = 0, tried = 0;
    for (unsigned const seed : testing::FreshSeeds(300)) {
        ++tried;
        std::mt19937 random(seed);
        std::vector<std::vector<int>> rounds(1 + seed % 3);
        for (auto& one : rounds)
            for (int a = 0; a < 4; ++a) one.push_back(static_cast<int>(random() % 4));
        Work const work(rounds);
        int const nodes = 2 + static_cast<int>(seed % 3), buffers = static_cast<int>(seed % 4);
        EXPECT_EQ(Job(work, nodes, buffers, true, random).run(), 0u) << "seed " << seed;
        stuck += Job(work, nodes, buffers, false, random).run() > 0 ? 1 : 0;
    }
    EXPECT_GT(stuck, tried / 6);
}

}  // namespace
}  // namespace sluice::cb_buffers_test
