// Schedules as data: every small world is built and checked for all ranks together; a schedule that
// is damaged must be found out; the texts are stable.
#include "drawn.hpp"
#include "golden.hpp"
#include "whole_world.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <sstream>

namespace sluice::schedule_test {
namespace {

using testing::interleaved_world;
using testing::topology_of;
using testing::WholeWorld;

/// Calls `check` for each small world and a line that names it.
void for_each_small_world(std::function<void(WholeWorld&, std::string const&)> const& check) {
    for (Rank ranks = 1; ranks <= 4; ++ranks) {
        for (Rank const per_node : {1, 2, 4}) {
            for (std::int32_t aggregators = 1; aggregators <= std::min(ranks, 3); ++aggregators) {
                for (std::int64_t const rounds : {1, 2, 5}) {
                    for (unsigned idle = 0; idle + 1 < 1u << ranks; ++idle) {
                        for (auto const way : {Direction::write, Direction::read}) {
                            auto world =
                                interleaved_world(ranks, per_node, aggregators, rounds, way, idle);
                            std::ostringstream name;
                            name << describe(way) << ", " << ranks << " ranks, " << per_node
                                 << " a node, " << aggregators << " aggregators, " << rounds
                                 << " rounds, idle " << idle;
                            check(world, name.str());
                        }
                    }
                }
            }
        }
    }
}

TEST(Schedule, EverySmallWorldIsSound) {
    int worlds = 0;
    for_each_small_world([&](WholeWorld& world, std::string const& name) {
        auto const all = world.all_schedules();
        for (Schedule const& one : all) EXPECT_EQ(first_fault(one), "") << name;
        EXPECT_EQ(first_fault(all, world.topology(), world.plan().cb_buffer_count), "") << name;
        ++worlds;
    });
    EXPECT_GT(worlds, 300);
}

/// Runs all ranks' schedules with counters and mailboxes only; returns what is left undone.
class DryRun {
public:
    DryRun(std::vector<Schedule> const& all, Topology const& topology, std::int32_t cb_buffer_count)
        : all_(all),
          topology_(topology),
          cb_buffer_count_(cb_buffer_count) {}

    std::string run(std::mt19937& random) {
        std::vector<std::vector<bool>> done;
        for (Schedule const& s : all_) done.emplace_back(s.ops.size());
        for (bool moved = true; moved;) {
            moved = false;
            std::vector<std::size_t> ranks(all_.size());
            for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = r;
            std::shuffle(ranks.begin(), ranks.end(), random);
            for (std::size_t const r : ranks) moved |= run_rank(r, done[r]);
        }
        for (std::size_t r = 0; r < all_.size(); ++r) {
            for (std::size_t i = 0; i < done[r].size(); ++i) {
                if (!done[r][i]) {
                    return "rank " + std::to_string(r) + ": " + describe(all_[r].ops[i]);
                }
            }
        }
        return {};
    }

private:
    using Counter = std::tuple<Node, CounterKind, Channel, std::int32_t, std::int64_t>;
    using Mail = std::tuple<Rank, Rank, Channel, std::int32_t, std::int64_t, std::int64_t>;

    Counter counter_of(Op const& op, std::size_t rank) const {
        Node const node = topology_.node_of(static_cast<Rank>(rank));
        switch (op.counter) {
        case CounterKind::turn:
            return {node, op.counter, {}, op.aggregator, op.round % cb_buffer_count_};
        case CounterKind::posted:
            return {node, op.counter, {}, op.aggregator, op.round};
        case CounterKind::collected:
        case CounterKind::taken:
        case CounterKind::answered:
            return {static_cast<Node>(rank), op.counter, {}, op.aggregator, 0};
        default:
            break;
        }
        return {node, op.counter, op.channel, 0, op.operation};
    }
    bool run_rank(std::size_t rank, std::vector<bool>& done) {
        bool moved = false;
        Schedule const& s = all_[rank];
        for (std::size_t i = 0; i < s.ops.size(); ++i) {
            Op const& op = s.ops[i];
            bool ready = !done[i];
            for (std::uint32_t e = 0; e < op.edge_count; ++e) {
                ready = ready && done[s.edges[op.first_edge + e]];
            }
            if (!ready || !run_op(op, rank)) continue;
            done[i] = moved = true;
        }
        return moved;
    }
    bool run_op(Op const& op, std::size_t rank) {
        auto const self = static_cast<Rank>(rank);
        if (op.kind == OpKind::notify) counters_[counter_of(op, rank)] += op.count;
        if (op.kind == OpKind::await) return counters_[counter_of(op, rank)] >= op.count;
        if (op.kind == OpKind::send) {
            ++mail_[{self, op.peer, op.channel, op.aggregator, op.round, op.operation}];
        }
        if (op.kind != OpKind::recv) return true;
        auto& waiting = mail_[{op.peer, self, op.channel, op.aggregator, op.round, op.operation}];
        if (waiting == 0) return false;
        --waiting;
        return true;
    }

    std::vector<Schedule> const& all_;
    Topology const& topology_;
    std::int32_t cb_buffer_count_;
    std::map<Counter, std::int64_t> counters_;
    std::map<Mail, std::int64_t> mail_;
};

TEST(Schedule, EverySmallWorldComesToItsEndInAnyOrderOfRanks) {
    std::mt19937 random(testing::run_seed());
    for_each_small_world([&](WholeWorld& world, std::string const& name) {
        auto const all = world.all_schedules();
        DryRun dry(all, world.topology(), world.plan().cb_buffer_count);
        EXPECT_EQ(dry.run(random), "") << name;
    });
}

// ---- Damage ------------------------------------------------------------------------------------

/// Whether first_fault can see that an op is gone: messages and counters are its subject.
bool is_seen(Op const& op) {
    return op.kind == OpKind::send || op.kind == OpKind::recv || op.kind == OpKind::notify;
}

/// An op that waits for nothing and changes nothing takes the place of `op`.
void remove(Op& op) {
    op.kind = OpKind::await;
    op.counter = CounterKind::turn;
    op.count = 0;
}

/// The last turn of each collective buffer frees it for a next operation: nobody in this one waits
/// for it.
bool somebody_waits_for(Op const& notify, std::vector<Schedule> const& all) {
    for (Schedule const& s : all) {
        for (Op const& op : s.ops) {
            if (op.kind == OpKind::await && op.counter == notify.counter && op.count > 0 &&
                op.aggregator == notify.aggregator && op.round >= notify.round) {
                return true;
            }
        }
    }
    return false;
}

/// Writes of 5 rounds over 2 collective buffers on 2 nodes; reads of the same.
std::vector<WholeWorld> worlds_to_damage() {
    std::vector<WholeWorld> worlds;
    for (auto const way : {Direction::write, Direction::read}) {
        for (Rank const per_node : {1, 2}) {
            worlds.push_back(interleaved_world(4, per_node, 2, 5, way));
            Hints one_layer;
            one_layer.metadata.layers = one_layer.data.layers = Layers::one;
            one_layer.metadata.throttle = one_layer.data.throttle = {1};
            worlds.push_back(interleaved_world(4, per_node, 2, 5, way, 0, one_layer));
        }
    }
    return worlds;
}

/// Every kernel, in one layer and in two, with throttles that bite; and groups, without messages.
std::vector<Hints> deliveries() {
    std::vector<Hints> all;
    for (auto const kernel : {Kernel::ascending, Kernel::pairwise, Kernel::spread_out,
                              Kernel::balanced, Kernel::even}) {
        for (auto const metadata : {Layers::one, Layers::two}) {
            for (auto const data : {Layers::one, Layers::two}) {
                Hints hints;
                hints.metadata = {kernel, metadata};
                hints.data = {kernel, data};
                Throttle const throttle{static_cast<std::int32_t>(all.size() % 3),
                                        std::uint8_t(all.size() / 2 % 2)};
                hints.metadata.throttle = hints.data.throttle = throttle;
                all.push_back(hints);
            }
        }
    }
    for (std::uint8_t groups = 0; groups < 3; ++groups) {
        Hints hints;
        hints.domains = Domains::groups;
        hints.group_count = groups;
        all.push_back(hints);
    }
    return all;
}

TEST(Schedule, EveryDeliveryIsSoundAndComesToItsEnd) {
    std::mt19937 random(testing::run_seed());
    for (Hints const& hints : deliveries()) {
        for (auto const& [ranks, per_node] : {std::pair{4, 1}, {4, 2}, {6, 3}, {5, 2}}) {
            for (auto const way : {Direction::write, Direction::read}) {
                for (unsigned const idle : {0u, 2u, 5u}) {
                    auto world = interleaved_world(ranks, per_node, 2, 5, way, idle, hints);
                    auto const all = world.all_schedules();
                    auto const cb_buffers = world.plan().cb_buffer_count;
                    EXPECT_EQ(first_fault(all, world.topology(), cb_buffers), "")
                        << describe(world.plan());
                    DryRun dry(all, world.topology(), cb_buffers);
                    EXPECT_EQ(dry.run(random), "") << describe(world.plan());
                }
            }
        }
    }
}

TEST(Schedule, AMissingMessageOrPostIsNamed) {
    for (WholeWorld& world : worlds_to_damage()) {
        auto const sound = world.all_schedules();
        auto const cb_buffers = world.plan().cb_buffer_count;
        for (std::size_t r = 0; r < sound.size(); ++r) {
            for (std::size_t i = 0; i < sound[r].ops.size(); ++i) {
                Op const& op = sound[r].ops[i];
                bool const over_rounds =
                    op.kind == OpKind::notify && op.counter != CounterKind::posted &&
                    op.counter != CounterKind::arrived && op.counter != CounterKind::announced &&
                    op.counter != CounterKind::claimed;
                // Turns and messages are counted over all rounds: the last ones free a collective
                // buffer for the next operation, or nobody waits for them, so that one too few is
                // not seen.
                if (!is_seen(op) || over_rounds ||
                    !(op.kind != OpKind::notify || somebody_waits_for(op, sound))) {
                    continue;
                }
                auto damaged = sound;
                remove(damaged[r].ops[i]);
                EXPECT_NE(first_fault(damaged, world.topology(), cb_buffers), "")
                    << "rank " << r << " without: " << describe(op);
            }
        }
    }
}

/// One of several ranks that obtain it is enough, so all of a node's are taken away.
TEST(Schedule, ACollectiveBufferThatNobodyObtainsOrGivesBackIsNamed) {
    int obtained = 0, given_back = 0;
    for (WholeWorld& world : worlds_to_damage()) {
        auto const sound = world.all_schedules();
        auto const cb_buffers = world.plan().cb_buffer_count;
        auto const node = [&](std::size_t r) {
            return world.topology().node_of(static_cast<Rank>(r));
        };
        for (std::size_t r = 0; r < sound.size(); ++r) {
            for (std::size_t i = 0; i < sound[r].ops.size(); ++i) {
                Op const& op = sound[r].ops[i];
                auto damaged = sound;
                if (gives_back(op)) {
                    ++given_back;
                    damaged[r].ops[i].source = Memory::none;
                    EXPECT_NE(first_fault(damaged, world.topology(), cb_buffers), "");
                }
                if (!obtains(op)) continue;
                ++obtained;
                for (std::size_t other = 0; other < damaged.size(); ++other) {
                    for (Op& same : damaged[other].ops) {
                        bool const is_same = node(other) == node(r) && obtains(same) &&
                                             same.aggregator == op.aggregator &&
                                             same.round == op.round;
                        if (is_same) same.target = Memory::none;
                    }
                }
                EXPECT_NE(first_fault(damaged, world.topology(), cb_buffers), "");
            }
        }
    }
    EXPECT_GT(obtained, 50);
    EXPECT_GT(given_back, 50);
}

TEST(Schedule, AnAlteredMessageIsNamed) {
    std::mt19937 random(testing::run_seed());
    for (WholeWorld& world : worlds_to_damage()) {
        auto const sound = world.all_schedules();
        for (int attempt = 0; attempt < 300; ++attempt) {
            auto damaged = sound;
            auto& ops = damaged[random() % damaged.size()].ops;
            Op& op = ops[random() % ops.size()];
            if (op.kind != OpKind::send && op.kind != OpKind::recv) continue;
            switch (random() % 4) {
            case 0:
                op.peer = (op.peer + 1) % world.topology().rank_count();
                break;
            case 1:
                op.round += 1;
                break;
            case 2:
                op.channel = op.channel == Channel::data ? Channel::want : Channel::data;
                break;
            default:
                op.aggregator += 1;
            }
            EXPECT_NE(first_fault(damaged, world.topology(), world.plan().cb_buffer_count), "")
                << describe(op);
        }
    }
}

TEST(Schedule, AnAwaitThatAsksForMoreThanThereIsIsNamed) {
    for (WholeWorld& world : worlds_to_damage()) {
        auto damaged = world.all_schedules();
        for (Schedule& s : damaged) {
            for (Op& op : s.ops) {
                if (op.kind != OpKind::await) continue;
                op.count += 1000;
                EXPECT_NE(first_fault(damaged, world.topology(), world.plan().cb_buffer_count), "");
                op.count -= 1000;
            }
        }
    }
}

TEST(Schedule, FaultsOfOneRankAreNamed) {
    auto world = interleaved_world(4, 2, 2, 2, Direction::write);
    Schedule const sound = world.all_schedules()[0];
    auto const with = [&](OpKind kind, auto const& change) {
        Schedule damaged = sound;
        for (Op& op : damaged.ops) {
            if (op.kind != kind) continue;
            change(op);
            break;
        }
        return first_fault(damaged);
    };
    EXPECT_NE(with(OpKind::copy, [](Op& op) { op.target = Memory::none; }), "");
    EXPECT_NE(with(OpKind::send, [](Op& op) { op.source = Memory::none; }), "");
    EXPECT_NE(with(OpKind::send, [](Op& op) { op.peer = -1; }), "");
    EXPECT_NE(with(OpKind::recv, [](Op& op) { op.target = Memory::none; }), "");
    EXPECT_NE(with(OpKind::recv, [](Op& op) { op.peer = -1; }), "");
    EXPECT_NE(with(OpKind::write, [](Op& op) { op.source = Memory::none; }), "");
    EXPECT_NE(with(OpKind::clear, [](Op& op) { op.target = Memory::cb_buffer; }), "");
    EXPECT_NE(with(OpKind::notify, [](Op& op) { op.count = -1; }), "");
    EXPECT_NE(with(OpKind::notify, [](Op& op) { op.edge_count = 1 << 20; }), "");
    Schedule forward = sound;
    forward.edges.front() = static_cast<std::uint32_t>(sound.ops.size()) - 1;
    EXPECT_NE(first_fault(forward), "");
}

// ---- Text --------------------------------------------------------------------------------------

/// All ranks of one small operation, rank by rank.
std::string text_of(Direction way) {
    Hints hints;
    hints.metadata.layers = hints.data.layers = Layers::two;
    hints.metadata.throttle = hints.data.throttle = {Throttle::usual};
    auto world = interleaved_world(4, 2, 1, 2, way, 0, hints);
    std::string text = describe(world.plan()) + "\n";
    auto const all = world.all_schedules();
    for (std::size_t r = 0; r < all.size(); ++r) {
        text += "\nrank " + std::to_string(r) + "\n" + describe(all[r]);
    }
    return text;
}

TEST(Schedule, ItsTextIsTheGoldenOne) {
    testing::expect_golden("write_4_ranks_2_nodes.txt", text_of(Direction::write));
    testing::expect_golden("read_4_ranks_2_nodes.txt", text_of(Direction::read));
}

TEST(Schedule, TheReductionUsesNoMessagesOnOneNode) {
    for (Op const& op : make_reduction(topology_of(4, 4), 2, Channel::summary_exchange, 3).ops) {
        EXPECT_NE(op.kind, OpKind::send);
        EXPECT_NE(op.kind, OpKind::recv);
        EXPECT_EQ(op.operation, 3);
    }
}

}  // namespace
}  // namespace sluice::schedule_test
