// Which algorithms are taken: a table that is looked at when it changes, what must hold of any
// call, and how far the prices are from the ops played through one by one.
#include "collective_clock.hpp"
#include "golden.hpp"
#include "sanitizers.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

namespace sluice::collective_choice_test {
namespace {

CollectiveWorld world_of(Rank ranks, Node nodes) {
    CollectiveWorld world;
    world.ranks = ranks;
    world.nodes = std::min<Node>(nodes, ranks);
    world.most_on_a_node = (ranks + world.nodes - 1) / world.nodes;
    world.cores_a_node = 16;
    return world;
}

/// A call of a kind without neighbours, with about so many bytes in its largest message by rank.
CollectiveCall call_of(CollectiveKind kind, Rank ranks, Bytes bytes, bool commutative = true) {
    CollectiveCall call;
    call.kind = kind;
    call.commutative = commutative;
    auto const count = static_cast<std::size_t>(ranks);
    switch (kind) {
    case CollectiveKind::barrier:
        break;
    case CollectiveKind::allgatherv:
        call.block = bytes;
        call.outputs.assign(count, bytes);
        break;
    case CollectiveKind::gatherv:
        call.block = bytes;
        call.outputs.assign(count, bytes);
        break;
    case CollectiveKind::scatterv:
        call.block = bytes;
        call.inputs.assign(count, bytes);
        break;
    case CollectiveKind::alltoallv:
        call.inputs.assign(count, bytes);
        call.outputs.assign(count, bytes);
        break;
    case CollectiveKind::reduce_scatter:
        call.element = 8;
        call.outputs.assign(count, bytes);
        break;
    default:
        call.element = reduces(kind) ? 8 : 1;
        call.block = bytes;
    }
    return call;
}

constexpr CollectiveKind kinds[] = {
    CollectiveKind::barrier,        CollectiveKind::bcast,
    CollectiveKind::gather,         CollectiveKind::gatherv,
    CollectiveKind::scatter,        CollectiveKind::scatterv,
    CollectiveKind::allgather,      CollectiveKind::allgatherv,
    CollectiveKind::alltoall,       CollectiveKind::alltoallv,
    CollectiveKind::reduce,         CollectiveKind::allreduce,
    CollectiveKind::reduce_scatter, CollectiveKind::reduce_scatter_block,
    CollectiveKind::scan,           CollectiveKind::exscan};
constexpr Bytes sizes[] = {8, 1 << 10, 16 << 10, 256 << 10, 4 << 20};

TEST(collective_choice, is_the_golden_one) {
    std::string text = "kind, ranks: algorithms for 8 B, 1 KiB, 16 KiB, 256 KiB, 4 MiB\n";
    for (Node const nodes : {1, 8}) {
        text += nodes == 1 ? "1 node\n" : "8 nodes\n";
        for (CollectiveKind const kind : kinds) {
            for (Rank const ranks : {2, 3, 8, 16, 64, 256}) {
                if (ranks < nodes) continue;
                char line[40];
                std::snprintf(line, sizeof line, "%-20s %4d:", describe(kind), ranks);
                text += line;
                for (Bytes const bytes : sizes) {
                    auto const call = call_of(kind, ranks, bytes);
                    text += std::string(" ") +
                            describe(choose_collective(call, world_of(ranks, nodes)).algorithm);
                }
                text += "\n";
            }
        }
    }
    testing::expect_golden("collective_choice.txt", text);
}

TEST(collective_choice, prices_grow_with_sizes) {
    for (CollectiveKind const kind : kinds) {
        for (Rank const ranks : {2, 3, 8, 13, 64, 1000}) {
            for (Node const nodes : {1, 4}) {
                auto const world = world_of(ranks, nodes);
                for (Algorithm const algorithm : algorithms_of(call_of(kind, ranks, 8), ranks)) {
                    double before = 0;
                    for (Bytes bytes = 0; bytes <= (64 << 20); bytes = bytes * 3 + 8) {
                        double const now =
                            collective_seconds(call_of(kind, ranks, bytes), algorithm, world);
                        EXPECT_GE(now, before * 0.999) << describe(kind) << describe(algorithm);
                        EXPECT_GT(now, 0);
                        before = now;
                    }
                }
            }
        }
    }
}

TEST(collective_choice, small_messages_take_few_steps_and_large_ones_little_bandwidth) {
    using enum Algorithm;
    auto const chosen = [](CollectiveKind kind, Rank ranks, Bytes bytes, bool commutative = true) {
        return choose_collective(call_of(kind, ranks, bytes, commutative), world_of(ranks, 1))
            .algorithm;
    };
    EXPECT_EQ(chosen(CollectiveKind::barrier, 64, 0), dissemination);
    EXPECT_EQ(chosen(CollectiveKind::bcast, 64, 8), binomial);
    EXPECT_EQ(chosen(CollectiveKind::reduce, 64, 8), binomial);
    EXPECT_EQ(chosen(CollectiveKind::allreduce, 64, 8), recursive_doubling);
    EXPECT_EQ(chosen(CollectiveKind::scan, 64, 8), recursive_doubling);
    for (auto const kind : {CollectiveKind::bcast, CollectiveKind::reduce}) {
        EXPECT_NE(chosen(kind, 64, 16 << 20), binomial) << describe(kind);
        EXPECT_NE(chosen(kind, 64, 16 << 20), linear) << describe(kind);
    }
    for (bool const commutative : {true, false}) {
        EXPECT_EQ(chosen(CollectiveKind::allreduce, 64, 16 << 20, commutative), rabenseifner);
        EXPECT_NE(chosen(CollectiveKind::scan, 64, 16 << 20, commutative), recursive_doubling);
    }
}

/// Each rank has a call of its own; what only some know must not count.
TEST(collective_choice, is_the_same_on_all_ranks) {
    std::mt19937_64 random(testing::run_seed());
    for (int i = 0; i < 2000; ++i) {
        CollectiveKind const kind = kinds[random() % std::size(kinds)];
        auto const ranks = static_cast<Rank>(random() % 64 + 2);
        auto const world = world_of(ranks, static_cast<Node>(random() % 4 + 1));
        auto call = call_of(kind, ranks, static_cast<Bytes>(8 << random() % 18), random() % 2);
        call.root = static_cast<Rank>(random() % 64) % ranks;
        auto const wanted = choose_collective(call, world);
        bool const rooted = kind == CollectiveKind::gatherv || kind == CollectiveKind::scatterv;
        if (rooted || kind == CollectiveKind::allgatherv) {
            call.block = static_cast<Bytes>(random() % 100000);
        }
        if (rooted || kind == CollectiveKind::alltoallv) {
            for (Bytes& bytes : call.inputs) bytes = static_cast<Bytes>(random() % 100000);
            for (Bytes& bytes : call.outputs) bytes = static_cast<Bytes>(random() % 100000);
        }
        if (rooted && random() % 2) call.inputs.clear(), call.outputs.clear();
        if (kind == CollectiveKind::reduce || kind == CollectiveKind::gather ||
            kind == CollectiveKind::scatter || rooted) {
            call.in_place = random() % 2;  // On the root only.
        }
        auto const got = choose_collective(call, world);
        EXPECT_EQ(got.algorithm, wanted.algorithm) << describe(kind);
        EXPECT_EQ(got.segment, wanted.segment) << describe(kind);
    }
}

TEST(collective_choice, is_one_that_can_serve_the_call) {
    std::mt19937_64 random(testing::run_seed());
    for (int i = 0; i < 2000; ++i) {
        auto const ranks = static_cast<Rank>(random() % 200 + 1);
        auto const call = call_of(kinds[random() % std::size(kinds)], ranks,
                                  static_cast<Bytes>(random() % 3 << random() % 20), random() % 2);
        auto const all = algorithms_of(call, ranks);
        auto const choice = choose_collective(call, world_of(ranks, 1 + random() % 8));
        EXPECT_NE(std::find(all.begin(), all.end(), choice.algorithm), all.end());
        EXPECT_GT(choice.segment, 0);
    }
}

// ---- Against the ops, played through ----------------------------------------------------------

/// What the choice costs, by its ops, in comparison to the best algorithm.
double regret(CollectiveCall const& call, CollectiveWorld const& world, bool prints) {
    auto const choice = choose_collective(call, world);
    double const chosen = testing::played_seconds(call, choice.algorithm, choice.segment, world);
    double best = chosen;
    std::string line;
    for (Algorithm const algorithm : algorithms_of(call, world.ranks)) {
        double const played = testing::played_seconds(call, algorithm, choice.segment, world);
        EXPECT_GT(played, 0);
        best = std::min(best, played);
        char text[80];
        std::snprintf(text, sizeof text, " %s %.1f (%.1f)", describe(algorithm), played * 1e6,
                      collective_seconds(call, algorithm, world) * 1e6);
        line += text;
    }
    if (prints && chosen > 1.1 * best) {
        std::printf("%.2f %s ranks %d nodes %d block %lld: chosen %s; us played (price):%s\n",
                    chosen / best, describe(call.kind), world.ranks, world.nodes,
                    static_cast<long long>(call.block), describe(choice.algorithm), line.c_str());
    }
    return chosen / best;
}

TEST(collective_choice, is_near_the_best_by_the_ops_played_through) {
    SKIP_OUTSIDE_SAMPLE();
    bool const prints = std::getenv("SLUICE_PRINT") != nullptr;
    double sum = 0, worst = 0;
    int count = 0, far = 0;
    for (CollectiveKind const kind : kinds) {
        if (kind == CollectiveKind::gatherv || kind == CollectiveKind::scatterv ||
            kind == CollectiveKind::alltoallv) {
            continue;  // Sizes are not known when one is chosen.
        }
        for (auto const& [ranks, nodes] :
             {std::pair{2, 1}, {2, 2}, {3, 1}, {4, 1}, {8, 1}, {8, 8}, {12, 1}, {16, 4}, {16, 1}}) {
            for (Bytes const bytes : {8, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20}) {
                double const one =
                    regret(call_of(kind, ranks, bytes), world_of(ranks, nodes), prints);
                sum += one, worst = std::max(worst, one);
                ++count, far += one > 1.2;
            }
        }
    }
    std::printf("%d calls: %.3f of the best on average, %.2f at worst, %d above 1.2\n", count,
                sum / count, worst, far);
    EXPECT_LT(sum / count, 1.05);
    EXPECT_LT(far, count / 50);
}

}  // namespace
}  // namespace sluice::collective_choice_test
