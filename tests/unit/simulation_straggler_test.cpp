// The paper's algebra of stragglers (Kang et al., 2020, III.B), in the one-port model with normal
// noise: receivers with the lowest ranks take one message after the other, in the kernel's order.
#include "file/plan/delivery.hpp"
#include "sanitizers.hpp"
#include "simulate/machine_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

namespace sluice::simulation_straggler_test {
namespace {

using namespace simulated;

constexpr double mean = 1, deviation = mean / 8;  // As in the paper's example.

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Topology one_rank_a_node(Rank ranks) {
    std::vector<std::int32_t> names(index(ranks));
    for (Rank r = 0; r < ranks; ++r) names[index(r)] = r;
    return Topology(names);
}

Machine one_port(Rank ranks, double noise) {
    Machine machine;
    machine.nodes = ranks, machine.ranks_per_node = 1;
    machine.start_seconds = mean, machine.byte_seconds = 0;
    machine.noise_seconds = noise;
    return machine;
}

/// Every rank has a message for each receiver; receivers ask for one at a time.
class AllToMany final : private Waker {
public:
    AllToMany(Delivery delivery, Rank ranks, std::int32_t receivers, std::uint64_t seed,
              double noise = deviation)
        : time_(seed),
          mail_(ranks, *this),
          model_(one_port(ranks, noise)),
          cursors_(index(receivers)) {
        Topology const topology = one_rank_a_node(ranks);
        model_.attach(time_, mail_);
        for (Rank a = 0; a < receivers; ++a) {
            Cursor& cursor = cursors_[index(a)];
            for (Rank sender = 0; sender < ranks; ++sender) {
                cursor.senders.push_back(sender);
                post(mail_.send(sender, a, 0, {}, true), true);
            }
            sort_by_delivery(cursor.senders, delivery, topology, a, receivers);
        }
        for (Rank a = 0; a < receivers; ++a) ask(a);
        EXPECT_TRUE(time_.run(1 << 24));
    }

    /// When a receiver had `messages` of its messages.
    [[nodiscard]] double end(std::int32_t receiver, std::size_t messages) const {
        return cursors_[index(receiver)].ends[messages - 1];
    }

private:
    struct Cursor {
        std::vector<Rank> senders;
        std::size_t asked = 0;
        LetterId current = 0;
        std::vector<double> ends;
    };

    void post(LetterId id, bool is_send) {
        is_send ? mail_.post_send(id) : mail_.post_recv(id);
        model_.posted(id);
    }
    void ask(Rank receiver) {
        Cursor& cursor = cursors_[index(receiver)];
        if (cursor.asked == cursor.senders.size()) return;
        cursor.current = mail_.recv(cursor.senders[cursor.asked++], receiver, 0, {});
        post(cursor.current, false);
    }
    void wake(Rank rank) override {
        if (index(rank) >= cursors_.size()) return;
        Cursor& cursor = cursors_[index(rank)];
        Bytes bytes = 0;
        if (cursor.ends.size() == cursor.asked || !mail_.recv_finished(cursor.current, bytes))
            return;
        cursor.ends.push_back(time_.now());
        ask(rank);
    }

    Time time_;
    Mail mail_;
    MachineModel model_;
    std::vector<Cursor> cursors_;
};

struct Estimate {
    double mean = 0, error = 0;  ///< The standard error of the mean.
};

/// How much later than without stragglers receiver 0 has all its messages.
Estimate delay(Delivery delivery, Rank ranks, std::int32_t receivers, int seeds) {
    double sum = 0, squares = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        AllToMany const game(delivery, ranks, receivers, static_cast<std::uint64_t>(seed));
        double const one = game.end(0, index(ranks)) - mean * ranks;
        sum += one, squares += one * one;
    }
    double const average = sum / seeds;
    return {average, std::sqrt((squares / seeds - average * average) / seeds)};
}

/// Mean delay of each receiver, and of the one that is last in each game.
struct Delays {
    std::vector<double> each;
    double last = 0;

    /// Of the receivers [begin, end).
    [[nodiscard]] double average(std::int32_t begin, std::int32_t end) const {
        return std::accumulate(each.begin() + begin, each.begin() + end, 0.0) / (end - begin);
    }
    [[nodiscard]] double average() const {
        return average(0, static_cast<std::int32_t>(each.size()));
    }
};

Delays delays(Delivery delivery, Rank ranks, std::int32_t receivers, int seeds) {
    Delays all{std::vector<double>(index(receivers)), 0};
    for (int seed = 1; seed <= seeds; ++seed) {
        AllToMany const game(delivery, ranks, receivers, static_cast<std::uint64_t>(seed));
        double last = 0;
        for (std::int32_t a = 0; a < receivers; ++a) {
            double const one = game.end(a, index(ranks)) - mean * ranks;
            all.each[index(a)] += one / seeds;
            last = std::max(last, one);
        }
        all.last += last / seeds;
    }
    return all;
}

constexpr Delivery spread_out{Kernel::spread_out};
constexpr Delivery even{.kernel = Kernel::even, .stride = 1};
constexpr Delivery balanced{.kernel = Kernel::balanced, .stride = 1};
double const one_step = deviation / std::sqrt(2 * std::numbers::pi);  // The paper's equation 2.

/// The paper takes the deviation of the difference of two transfers for that of one.
TEST(Straggler, TheFirstStepWaitsForTheLaterOfTwo) {
    SKIP_OUTSIDE_SAMPLE();
    constexpr int seeds = 20000;
    double sum = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        AllToMany const game(spread_out, 4, 2, static_cast<std::uint64_t>(seed));
        sum += game.end(0, 2) - 2 * mean;
    }
    double const error = 2 * deviation / std::sqrt(seeds);
    EXPECT_NEAR(sum / seeds, std::numbers::sqrt2 * one_step, 4 * error);
}

/// Independent waits would make (p - 1) sigma / sqrt(2 pi); since later waits follow from earlier
/// ones it is that with a constant of about 2, and in any case proportional to p - 1.
TEST(Straggler, SpreadOutGrowsWithTheRanksBalancedDoesNot) {
    SKIP_OUTSIDE_SAMPLE();
    double before = 0;
    for (Rank const ranks : {16, 32, 64, 128}) {
        int const seeds = 6400 / ranks;
        Estimate const plain = delay(spread_out, ranks, ranks / 2, seeds);
        Estimate const better = delay(balanced, ranks, ranks / 2, seeds);
        double const paper = (ranks - 1) * one_step;
        EXPECT_GT(plain.mean, 1.5 * paper - 4 * plain.error) << ranks;
        EXPECT_LT(plain.mean, 2.5 * paper + 4 * plain.error) << ranks;
        EXPECT_LT(std::abs(better.mean), 0.15 * plain.mean + 4 * better.error) << ranks;
        if (before > 0) {
            EXPECT_NEAR(plain.mean / before, 2, 0.3) << ranks;
        }
        before = plain.mean;
        std::printf("%4d ranks: spread-out %.2f, balanced %.2f, paper %.2f deviations\n", ranks,
                    plain.mean / deviation, better.mean / deviation, paper / deviation);
    }
}

TEST(Straggler, FewReceiversAreDelayedLessThanInProportion) {
    SKIP_OUTSIDE_SAMPLE();
    Estimate const few = delay(spread_out, 32, 4, 400), many = delay(spread_out, 128, 4, 400);
    EXPECT_GT(many.mean, few.mean);
    EXPECT_LT(many.mean, 3 * few.mean);
    EXPECT_LT(std::abs(delay(balanced, 128, 4, 400).mean), 0.2 * many.mean);
}

/// The paper says that p mod R of R receivers suffer as with spread-out where p/2 < R < p. It is
/// the others, 2 R - p: the first p mod R have a rank between them and the next receiver that does
/// not receive, and so time to spare.
TEST(Straggler, WithManyReceiversThoseBehindTheFirstPModRSuffer) {
    SKIP_OUTSIDE_SAMPLE();
    constexpr Rank ranks = 64;
    for (std::int32_t const receivers : {40, 48, 56}) {
        double const plain = delays(spread_out, ranks, receivers, 100).average();
        Delays const better = delays(balanced, ranks, receivers, 100);
        std::int32_t const spared = ranks % receivers;
        EXPECT_LT(better.average(0, spared / 2), 0.2 * plain) << receivers;
        EXPECT_GT(better.average(spared, receivers), 0.6 * plain) << receivers;
    }
}

/// Receivers with time to spare between the others: what one is late, the next but few does not
/// feel.
TEST(Straggler, EvenDelaysLessThanBalancedWithMoreReceiversThanHalfTheRanks) {
    SKIP_OUTSIDE_SAMPLE();
    for (Rank const ranks : {64, 128}) {
        for (std::int32_t const receivers : {ranks * 5 / 8, ranks * 3 / 4, ranks * 7 / 8}) {
            int const seeds = 6400 / ranks;
            Delays const paper = delays(balanced, ranks, receivers, seeds);
            Delays const better = delays(even, ranks, receivers, seeds);
            EXPECT_LT(better.average(), 0.8 * paper.average()) << ranks << " " << receivers;
            EXPECT_LT(better.last, 0.8 * paper.last) << ranks << " " << receivers;
            std::printf("%4d ranks, %3d receivers: balanced %.1f, the last %.1f; even %.1f, the "
                        "last %.1f deviations\n",
                        ranks, receivers, paper.average() / deviation, paper.last / deviation,
                        better.average() / deviation, better.last / deviation);
        }
    }
}

/// Equation 5: with half as many receivers as ranks a receiver's third request finds its sender
/// busy with probability 1 - Phi(mu / (sigma sqrt 3)), as one transfer must take longer than two.
/// With the paper's deviation that is 2e-6; a larger one can be seen.
TEST(Straggler, TheFirstWaitIsAsRareAsEquationFiveSays) {
    SKIP_OUTSIDE_SAMPLE();
    constexpr Rank ranks = 16;
    constexpr std::int32_t receivers = ranks / 2;
    auto const equation = [](double noise) {
        return std::erfc(mean / (noise * std::sqrt(3.0)) / std::numbers::sqrt2) / 2;
    };
    EXPECT_LT(equation(deviation), 2e-6);
    for (double const noise : {mean / 4, mean / 3}) {
        constexpr int seeds = 4000;
        int waits = 0;
        for (int seed = 1; seed <= seeds; ++seed) {
            AllToMany const game(balanced, ranks, receivers, static_cast<std::uint64_t>(seed),
                                 noise);
            for (std::int32_t a = 0; a < receivers; ++a)
                waits += game.end(a, 2) < game.end((a + 1) % receivers, 1) ? 1 : 0;
        }
        double const p = equation(noise), games = seeds * receivers;
        EXPECT_NEAR(waits / games, p, 4 * std::sqrt(p / games)) << noise;
    }
}

void expect_same_order(Topology const& topology, std::int32_t receivers) {
    for (std::int32_t a = 0; a < receivers; ++a) {
        for (Rank sender = 0; sender < topology.rank_count(); ++sender) {
            auto const step = delivery_step(spread_out, topology, sender, a, receivers);
            ASSERT_EQ(step, delivery_step(balanced, topology, sender, a, receivers))
                << topology.rank_count() << " ranks, receiver " << a << ", sender " << sender;
            ASSERT_EQ(step, delivery_step(even, topology, sender, a, receivers))
                << topology.rank_count() << " ranks, receiver " << a << ", sender " << sender;
        }
    }
}

TEST(Straggler, BothOrdersAreTheSameWithAsManyReceiversAsRanks) {
    for (Rank ranks = 1; ranks <= 64; ++ranks) expect_same_order(one_rank_a_node(ranks), ranks);
}

TEST(Straggler, BothOrdersAreTheSameWithReceiversSpreadEvenly) {
    for (Rank nodes = 1; nodes <= 64; nodes += 3) {
        for (Rank const per_node : {1, 2, 5, 64}) {
            std::vector<std::int32_t> names(index(nodes) * index(per_node));
            for (std::size_t r = 0; r < names.size(); ++r)
                names[r] = static_cast<std::int32_t>(r) / per_node;
            expect_same_order(Topology(names), nodes);  // The first rank of each node receives.
        }
    }
}

}  // namespace
}  // namespace sluice::simulation_straggler_test
