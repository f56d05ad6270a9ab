// Messages between the ranks of a node: every byte against what was sent, between threads (for the
// thread sanitizer) and between processes, with copies from process to process and without.
#include "drawn.hpp"
#include "node_ranks.hpp"

#include "transport/node_queue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace sluice::node_network_test {
namespace {

constexpr std::uint64_t context = 5;

Message send(NodeRank const& rank, Rank to, int tag, Content const& what) {
    return rank.network.start_send(to, context, tag, what);
}

Message receive(NodeRank const& rank, Rank from, int tag, Content& into) {
    return rank.network.start_recv(from, context, tag, into);
}

void start(NodeRank const& rank, Half& half) {
    Letter const& letter = half.letter;
    if (half.sends) {
        half.memory = content(letter.seed, letter.bytes);
        half.message = rank.network.start_send(letter.to, letter.context, letter.tag, half.memory);
    } else {
        half.memory.resize(letter.bytes + letter.seed % 3);  // Receives may have room left.
        half.message =
            rank.network.start_recv(letter.from, letter.context, letter.tag, half.memory);
    }
}

/// Starts everything, in its own order, and finishes it. `matters`: what must come out right.
std::string run_traffic(NodeRank const& rank, std::uint64_t seed, int count,
                        std::function<bool(Letter const&)> const& matters) {
    std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(rank.self));
    auto halves = halves_of(random_letters(seed, rank.ranks, count), rank.self, random);
    for (Half& half : halves) {
        start(rank, half);
        if (random() % 4 == 0) rank.network.progress();
        if (random() % 16 == 0) sched_yield();
    }
    std::string faults;
    std::size_t left = halves.size();
    rank.until([&] {
        for (Half& half : halves) {
            if (half.done || !rank.network.finished(half.message)) continue;
            half.done = true;
            --left;
            if (matters(half.letter)) faults += fault_of(half);
            half.memory = {};  // The network must not touch it any more.
        }
        return left == 0;
    });
    return faults;
}

RankProgram traffic(std::uint64_t seed, int count) {
    return [=](NodeRank const& rank) {
        return run_traffic(rank, seed, count, [](Letter const&) { return true; });
    };
}

TEST(NodeNetwork, brings_random_traffic_between_threads) {
    for (unsigned const seed : testing::FreshSeeds(6)) {
        Rank const ranks = 2 + static_cast<Rank>(seed) % 4;
        EXPECT_EQ(on_threads(ranks, seed % 2 == 0, traffic(seed, 120)), "") << "seed " << seed;
    }
}

TEST(NodeNetwork, brings_random_traffic_between_processes) {
    for (std::uint64_t seed = 100; seed < 106; ++seed) {
        Rank const ranks = 2 + static_cast<Rank>(seed) % 7;
        EXPECT_EQ(on_processes(ranks, seed % 2 == 0, traffic(seed, 120)), "") << "seed " << seed;
    }
}

/// There and back, of every size around a border.
std::string ping_pong(NodeRank const& rank) {
    std::vector<std::size_t> sizes{0};
    for (std::size_t border : {8U, 40U, 64U, 4096U, 16384U, 32768U, 262144U}) {
        for (std::size_t size : {border - 1, border, border + 1}) sizes.push_back(size);
    }
    for (std::size_t const size : sizes) {
        Content const there = content(size, size), back = content(size + 1, size);
        Content got(size);
        bool const first = rank.self == 0;
        Message incoming = receive(rank, 1 - rank.self, 1, got);
        Message outgoing = first ? send(rank, 1, 1, there) : Message{};
        rank.finish(incoming);
        if (!first) outgoing = send(rank, 0, 1, back);
        rank.finish(outgoing);
        if (got != (first ? back : there)) return "wrong bytes of " + std::to_string(size);
    }
    return "";
}

TEST(NodeNetwork, brings_messages_of_every_size) {
    EXPECT_EQ(on_threads(2, false, ping_pong), "");
    EXPECT_EQ(on_threads(2, true, ping_pong), "");
    EXPECT_EQ(on_processes(2, true, ping_pong), "");
}

TEST(NodeNetwork, brings_messages_to_oneself) {
    auto const program = [](NodeRank const& rank) -> std::string {
        for (std::size_t const size : {0U, 7U, 5000U, 1000000U}) {
            Content const sent = content(size, size);
            Content one(size), other(size);
            Message out = send(rank, rank.self, 1, sent);
            Message in = receive(rank, rank.self, 1, one);
            Message in_first = receive(rank, rank.self, 2, other);
            Message out_later = send(rank, rank.self, 2, sent);
            for (Message* message : {&out, &in, &in_first, &out_later}) rank.finish(*message);
            if (one != sent || other != sent) return "wrong bytes";
        }
        return "";
    };
    EXPECT_EQ(on_threads(1, false, program), "");
    EXPECT_EQ(on_processes(2, true, program), "");
}

TEST(NodeNetwork, lets_no_conversation_wait_for_another) {
    auto const program = [](NodeRank const& rank) -> std::string {
        constexpr int many = 3000;
        Content const small = content(1, 900), large = content(2, 600'000), last = content(3, 8);
        std::vector<Content> room(many, Content(900));
        Content large_room(large.size()), last_room(8);
        std::vector<Message> messages;
        if (rank.self == 0) {  // All of it before anything that the peer asks for first.
            messages.push_back(send(rank, 1, 7, large));
            for (int i = 0; i < many; ++i) messages.push_back(send(rank, 1, 8, small));
            messages.push_back(send(rank, 1, 9, last));
        } else {
            Message first = receive(rank, 0, 9, last_room);
            rank.finish(first);
            if (last_room != last) return "wrong bytes of the last";
            messages.push_back(receive(rank, 0, 7, large_room));
            for (Content& into : room) messages.push_back(receive(rank, 0, 8, into));
        }
        for (Message& message : messages) rank.finish(message);
        if (rank.self == 0) return "";
        bool const equal = std::ranges::all_of(room, [&](auto const& got) { return got == small; });
        return equal && large_room == large ? "" : "wrong bytes";
    };
    EXPECT_EQ(on_threads(2, false, program), "");
    EXPECT_EQ(on_processes(2, true, program), "");
}

TEST(NodeNetwork, keeps_the_order_of_equal_triples) {
    auto const program = [](NodeRank const& rank) -> std::string {
        constexpr std::size_t many = 200;
        auto const size = [](std::size_t i) { return i % 9 == 0 ? 50'000 + i : i % 7 * 300; };
        std::vector<Content> memory(many);
        std::vector<Message> messages;
        for (std::size_t i = 0; i < many; ++i) {
            memory[i] = rank.self == 0 ? content(i, size(i)) : Content(60'000);
            messages.push_back(rank.self == 0 ? send(rank, 1, 4, memory[i])
                                              : receive(rank, 0, 4, memory[i]));
            if (i % 5 == 0) rank.network.progress();
        }
        for (std::size_t i = many; i-- > 0;) {  // Asked about from the last to the first.
            rank.finish(messages[i]);
            if (rank.self == 0) continue;
            if (messages[i].received != static_cast<Bytes>(size(i))) return "wrong length";
            memory[i].resize(size(i));
            if (memory[i] != content(i, size(i))) return "wrong bytes";
        }
        return "";
    };
    EXPECT_EQ(on_threads(2, false, program), "");
    EXPECT_EQ(on_threads(2, true, program), "");
    EXPECT_EQ(on_processes(2, true, program), "");
}

/// A receive that is too short fails, however long the message, and only that.
TEST(NodeNetwork, tells_of_messages_that_are_too_long) {
    auto const program = [](NodeRank const& rank) -> std::string {
        for (bool const early : {false, true}) {
            for (std::size_t const size : {20U, 3000U, 500'000U}) {
                Content const sent = content(size, size);
                Content room(size - 1), next(size);
                Message messages[2];
                if (early && rank.self == 1) rank.meet();
                for (Message& message : messages) {
                    Content& into = &message == messages ? room : next;
                    message = rank.self == 0 ? send(rank, 1, 1, sent) : receive(rank, 0, 1, into);
                }
                if (early && rank.self == 0) rank.meet();
                for (Message& message : messages) rank.finish(message);
                bool const fails = rank.self == 1;
                if (messages[0].failed() != fails ||
                    (messages[0].status == Status::truncated) != fails)
                    return "not told";
                if (messages[1].failed() || (fails && next != sent)) return "the next is not right";
            }
        }
        return "";
    };
    EXPECT_EQ(on_threads(2, false, program), "");
    EXPECT_EQ(on_processes(2, true, program), "");
}

TEST(NodeNetwork, needs_no_look_of_a_sender_whose_memory_is_read) {
    if (!system_copies()) GTEST_SKIP() << "the system does not copy between processes";
    auto const program = [](NodeRank const& rank) -> std::string {
        Content const sent = content(1, 3'000'000);
        Content room(sent.size());
        Message message = rank.self == 0 ? send(rank, 1, 1, sent) : receive(rank, 0, 1, room);
        if (rank.self == 0) {
            while (rank.common.flag.load() == 0) usleep(1000);
        }
        rank.finish(message);
        rank.common.flag.store(1);
        return message.failed() || (rank.self == 1 && room != sent) ? "wrong bytes" : "";
    };
    EXPECT_EQ(on_processes(2, true, program), "");
    EXPECT_EQ(on_threads(2, true, program), "");
}

/// A sender that looks now and then: both move the message, and its memory is its own afterwards.
TEST(NodeNetwork, moves_a_message_from_both_ends) {
    if (!system_copies()) GTEST_SKIP() << "the system does not copy between processes";
    auto const program = [](NodeRank const& rank) -> std::string {
        for (std::uint64_t i = 0; i < 8; ++i) {
            Content memory = content(i, 2'000'000);
            if (rank.self == 1) std::ranges::fill(memory, std::byte{});
            rank.meet();
            Message message =
                rank.self == 0 ? send(rank, 1, 1, memory) : receive(rank, 0, 1, memory);
            if (rank.self == 1) {
                rank.finish(message);
                if (memory != content(i, memory.size())) return "wrong bytes";
                continue;
            }
            while (!rank.network.finished(message)) {
                usleep(static_cast<useconds_t>(10 + i * 20));
                rank.network.progress();
            }
            std::ranges::fill(memory, std::byte{});
        }
        return "";
    };
    EXPECT_EQ(on_processes(2, true, program), "");
    EXPECT_EQ(on_threads(2, true, program), "");
}

/// The way back is full when a large message ends: its receiver, who has nothing else to do then,
/// does not leave before the sender was told.
TEST(NodeNetwork, tells_the_sender_before_a_large_message_is_done) {
    if (!system_copies()) GTEST_SKIP() << "the system does not copy between processes";
    auto const program = [](NodeRank const& rank) -> std::string {
        auto const all_but_one = QueueShape::of(rank.ranks).cells - 1;
        Content const sent = content(1, 1'000'000);
        Content room(sent.size()), nothing;
        if (rank.self == 1) {
            for (std::uint32_t i = 0; i < all_but_one; ++i) {
                Message small = send(rank, 0, 2, nothing);
                if (!rank.network.finished(small)) return "the way back is full too early";
            }
            rank.meet();
            Message large = receive(rank, 0, 1, room);
            rank.finish(large);
            while (rank.common.flag.load() == 0) usleep(1000);
            return room == sent ? "" : "wrong bytes";
        }
        Message large = send(rank, 1, 1, sent);
        rank.meet();
        usleep(50'000);  // The peer copies all of it meanwhile.
        auto const begin = std::chrono::steady_clock::now();
        bool told = false;
        while (!told && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
            rank.network.progress();
            told = rank.network.finished(large);
        }
        rank.common.flag.store(1);
        return told ? "" : "the sender was not told";
    };
    EXPECT_EQ(on_processes(2, true, program), "");
    EXPECT_EQ(on_threads(2, true, program), "");
}

/// A rank is killed at any point of the traffic: all of it ends, and what others sent is right.
TEST(NodeNetwork, ends_messages_of_a_killed_peer) {
    if (!system_copies()) GTEST_SKIP() << "the system does not copy between processes";
    constexpr Rank victim = 1, ranks = 3;
    std::mt19937_64 random(testing::run_seed());
    for (std::uint64_t trial = 0; trial < 3; ++trial) {
        Processes processes(ranks);
        auto const begin = std::chrono::steady_clock::now();
        processes.start(trial % 2 == 0, [&](NodeRank rank) -> std::string {
            rank.common.flag.fetch_add(1);
            rank.seconds_asleep = 0.5;  // Nobody rings for the dead.
            std::string faults;
            for (std::uint64_t i = 0; i < 8; ++i) {
                faults += run_traffic(rank, trial * 50 + i, 60, [](Letter const& letter) {
                    return letter.from != victim && letter.to != victim;
                });
            }
            return faults;
        });
        // On a busy machine a peer would be gone before the others know each other.
        while (processes.common().flag < ranks) usleep(1000);
        usleep(static_cast<useconds_t>(random() % 20'000));
        kill(processes.pid(victim), SIGKILL);
        EXPECT_GE(processes.wait(), ranks - 1) << "trial " << trial;
        auto const took = std::chrono::steady_clock::now() - begin;
        EXPECT_LT(took, std::chrono::seconds(20));
    }
}

}  // namespace
}  // namespace sluice::node_network_test
