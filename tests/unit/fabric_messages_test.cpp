// The protocol of messages over a fabric, on one that delays, reorders and refuses: every byte,
// every length, no slot used twice, and an end of everything when a peer is lost.
#include "drawn.hpp"
#include "fake_fabric.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint64_t their_context = 7;
constexpr int steps_most = 200'000;

/// How a letter is divided: into what its message holds, and parts that go to their places with
/// gaps between them. Both ranks find the same from its seed.
struct Division {
    std::size_t head_bytes = 0, target_bytes = 0;
    std::vector<std::pair<std::size_t, std::size_t>> places;  ///< Where, and how many bytes.
};

Division division_of(Letter const& letter) {
    if (letter.seed % 3 != 0 || letter.bytes < 50) return {letter.bytes, 0, {}};
    std::mt19937_64 random(letter.seed);
    Division division;
    division.head_bytes = random() % std::min<std::size_t>(letter.bytes / 2, 1000);
    std::size_t left = letter.bytes - division.head_bytes;
    while (left > 0) {
        std::size_t const bytes = division.places.size() < 5 ? 1 + random() % left : left;
        division.target_bytes += random() % 100;
        division.places.emplace_back(division.target_bytes, bytes);
        division.target_bytes += bytes;
        left -= bytes;
    }
    return division;
}

/// The memory of a half whose letter has parts.
struct PartsOfHalf {
    std::vector<PlacedPart> parts;
    Content target;
};

constexpr std::byte untouched{0xa5};

std::string fault_of_parts(Half const& half, PartsOfHalf const& its) {
    Division const division = division_of(half.letter);
    if (half.message.failed()) return "a message with parts failed\n";
    if (half.sends) return "";
    if (half.message.received != static_cast<Bytes>(division.head_bytes) ||
        half.message.placed != static_cast<Bytes>(half.letter.bytes - division.head_bytes))
        return "wrong lengths of a message with parts\n";
    Content const sent = content(half.letter.seed, half.letter.bytes);
    Content expected(division.target_bytes, untouched);
    auto from = sent.begin() + static_cast<std::ptrdiff_t>(division.head_bytes);
    for (auto const& [at, bytes] : division.places) {
        std::copy_n(from, bytes, expected.begin() + static_cast<std::ptrdiff_t>(at));
        from += static_cast<std::ptrdiff_t>(bytes);
    }
    bool const head_is_equal =
        std::equal(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(division.head_bytes),
                   half.memory.begin());
    return head_is_equal && its.target == expected ? "" : "wrong bytes of a message with parts\n";
}

struct Traffic {
    FakeFabric& fabric;
    std::vector<std::vector<Half>> halves;  ///< Of each rank.
    std::map<Half const*, PartsOfHalf> parts;

    Traffic(FakeFabric& its, std::uint64_t seed, Rank ranks, int count) : fabric(its) {
        auto const letters = random_letters(seed, ranks, count);
        for (Rank self = 0; self < ranks; ++self) {
            std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(self));
            halves.push_back(halves_of(letters, self, random));
        }
    }

    void start(Rank self, Half& half) {
        Letter const& letter = half.letter;
        Fabric& messages = fabric.at(self);
        if (!division_of(letter).places.empty()) return start_with_parts(messages, half);
        if (half.sends) {
            half.memory = content(letter.seed, letter.bytes);
            half.message = messages.start_send(FakeFabric::index(letter.to), letter.context,
                                               letter.tag, half.memory, letter.seed % 5 == 0);
        } else {
            half.memory.resize(letter.bytes + letter.seed % 3);  // Receives may have room left.
            half.message = messages.start_recv(FakeFabric::index(letter.from), letter.context,
                                               letter.tag, half.memory);
        }
    }

    void start_with_parts(Fabric& messages, Half& half) {
        Letter const& letter = half.letter;
        Division const division = division_of(letter);
        PartsOfHalf& its = parts[&half];
        if (!half.sends) {
            half.memory.resize(division.head_bytes + letter.seed % 2 * 10'000);
            its.target.resize(division.target_bytes, untouched);
            half.message = messages.start_recv(FakeFabric::index(letter.from), letter.context,
                                               letter.tag, half.memory, its.target);
            return;
        }
        half.memory = content(letter.seed, letter.bytes);
        std::size_t from = division.head_bytes;
        for (auto const& [at, bytes] : division.places) {
            its.parts.push_back(
                {half.memory.data() + from, static_cast<Bytes>(at), static_cast<Bytes>(bytes)});
            from += bytes;
        }
        half.message = messages.start_send(FakeFabric::index(letter.to), letter.context, letter.tag,
                                           std::span(half.memory).first(division.head_bytes), false,
                                           its.parts);
    }

    std::string fault_of(Half const& half) {
        auto const its = parts.find(&half);
        return its == parts.end() ? sluice::fault_of(half) : fault_of_parts(half, its->second);
    }

    /// Starts them in the order of each rank, with steps in between, and goes on until all ended.
    std::string run() {
        std::vector<std::size_t> begun(halves.size(), 0);
        std::string faults;
        for (int step = 0; step < steps_most; ++step) {
            bool left = false;
            for (std::size_t rank = 0; rank < halves.size(); ++rank) {
                auto& mine = halves[rank];
                if (begun[rank] < mine.size()) start(static_cast<Rank>(rank), mine[begun[rank]++]);
                for (std::size_t i = 0; i < begun[rank]; ++i) {
                    Half& half = mine[i];
                    if (half.done) continue;
                    half.done = fabric.at(static_cast<Rank>(rank)).finished(half.message);
                    if (!half.done) continue;
                    faults += fault_of(half);
                    half.memory = {};  // Nobody must touch it any more.
                    parts.erase(&half);
                }
                left |= begun[rank] < mine.size() ||
                        !std::ranges::all_of(mine, [](Half const& half) { return half.done; });
            }
            if (!left) return faults + fabric.faults();
            fabric.step();
        }
        return faults + "messages did not end\n";
    }
};

std::string traffic(std::uint64_t seed, FakeFabric::Options const& options) {
    Rank const ranks = 2 + static_cast<Rank>(seed % 3);
    FakeFabric fabric(ranks, seed, options);
    std::string faults = Traffic(fabric, seed, ranks, 80).run();
    if (fabric.memory_shown() > 0) faults += "memory is still shown\n";
    return faults;
}

TEST(FabricMessages, bring_random_traffic) {
    for (unsigned const seed : testing::FreshSeeds(60)) {
        EXPECT_EQ(traffic(seed, {}), "") << "seed " << seed;
    }
}

TEST(FabricMessages, bring_random_traffic_with_one_slot) {
    for (std::uint64_t seed = 100; seed < 130; ++seed) {
        EXPECT_EQ(traffic(seed, {.slots = 1}), "") << "seed " << seed;
    }
}

/// As providers with short data of writes, and those that split long ones, make it.
TEST(FabricMessages, bring_random_traffic_in_several_writes) {
    for (std::uint64_t seed = 200; seed < 230; ++seed) {
        EXPECT_EQ(traffic(seed, {.write_most = 10'000, .data_bits = 32}), "") << "seed " << seed;
        EXPECT_EQ(traffic(seed, {.write_most = 10'000}), "") << "seed " << seed;
    }
}

/// What both halves of one message have come to; nothing where one did not end.
struct Ends {
    std::optional<Message> send, receive;
};

Ends exchange(FakeFabric& fabric, Content const& sent, Content& room, bool synchronous = false) {
    Message send =
        fabric.at(0).start_send(FakeFabric::index(1), their_context, 3, sent, synchronous);
    Message receive = fabric.at(1).start_recv(FakeFabric::index(0), their_context, 3, room);
    Ends ends;
    for (int step = 0; step < 10'000 && (!ends.send || !ends.receive); ++step) {
        if (!ends.send && fabric.at(0).finished(send)) ends.send = send;
        if (!ends.receive && fabric.at(1).finished(receive)) ends.receive = receive;
        fabric.step();
    }
    return ends;
}

TEST(FabricMessages, that_are_longer_than_their_receives_end_truncated) {
    for (auto const& [bytes, room_bytes] :
         {std::pair{100, 50}, {100'000, 50'000}, {100'000, 50}, {100'000, 0}}) {
        FakeFabric fabric(2, 1, {});
        Content const sent = content(5, static_cast<std::size_t>(bytes));
        Content room(static_cast<std::size_t>(room_bytes));
        Ends const ends = exchange(fabric, sent, room);
        ASSERT_TRUE(ends.send && ends.receive) << bytes << " into " << room_bytes;
        EXPECT_FALSE(ends.send->failed());
        EXPECT_EQ(ends.receive->status, Status::truncated);
        EXPECT_EQ(fabric.memory_shown(), 0U);
    }
}

TEST(FabricMessages, end_where_the_provider_registers_no_memory) {
    FakeFabric fabric(2, 1, {.registers = false});
    Content const sent = content(5, 100'000);
    Content room(100'000);
    Ends const ends = exchange(fabric, sent, room);
    ASSERT_TRUE(ends.send && ends.receive);
    EXPECT_EQ(ends.receive->status, Status::no_memory);
}

TEST(FabricMessages, that_are_synchronous_end_when_their_receives_began) {
    for (std::size_t const bytes : {10U, 100'000U}) {
        FakeFabric fabric(2, 1, {});
        Content const sent = content(5, bytes);
        Message send = fabric.at(0).start_send(FakeFabric::index(1), their_context, 3, sent, true);
        for (int step = 0; step < 1000; ++step) {
            fabric.step();
            ASSERT_FALSE(fabric.at(0).finished(send)) << bytes;
        }
        Content room(bytes);
        Message receive = fabric.at(1).start_recv(FakeFabric::index(0), their_context, 3, room);
        bool sent_is_done = false, received = false;
        for (int step = 0; step < 1000; ++step) {
            fabric.step();
            sent_is_done = sent_is_done || fabric.at(0).finished(send);
            received = received || fabric.at(1).finished(receive);
        }
        EXPECT_TRUE(sent_is_done && received) << bytes;
        EXPECT_EQ(room, sent);
    }
}

TEST(FabricMessages, with_a_peer_that_is_lost_all_end) {
    for (unsigned const seed : testing::FreshSeeds(40)) {
        // Every second time nobody tells: silence does.
        FakeFabric fabric(3, seed, {.tells_of_death = seed % 2 == 0});
        Traffic traffic(fabric, seed, 3, 60);
        std::mt19937_64 random(seed);
        for (Rank rank = 0; rank < 3; ++rank) {
            for (Half& half : traffic.halves[static_cast<std::size_t>(rank)])
                traffic.start(rank, half);
        }
        for (std::uint64_t left = random() % 60; left > 0; --left) fabric.step();
        int lost = 0;
        fabric.at(0).when_lost = [&](FabricCard const&) { ++lost; };
        fabric.kill(2);
        int open = 0;
        for (int step = 0; step < 20'000; ++step) {
            fabric.step();
            open = 0;
            for (Rank rank = 0; rank < 2; ++rank) {
                for (Half& half : traffic.halves[static_cast<std::size_t>(rank)]) {
                    half.done = half.done || fabric.at(rank).finished(half.message);
                    Rank const other = half.sends ? half.letter.to : half.letter.from;
                    if (half.done && other != 2) {
                        EXPECT_FALSE(half.message.failed());
                    }
                    open += half.done ? 0 : 1;
                }
            }
            if (open == 0) break;
        }
        EXPECT_EQ(open, 0) << "seed " << seed;
        Content room(10);
        Message late = fabric.at(0).start_recv(FakeFabric::index(2), their_context, 1, room);
        bool has_ended = fabric.at(0).finished(late);
        for (int step = 0; step < 2000 && !has_ended; ++step) {
            fabric.step();
            has_ended = fabric.at(0).finished(late);
        }
        EXPECT_TRUE(has_ended && late.failed()) << "seed " << seed;
        EXPECT_EQ(lost, 1) << "told once";
    }
}

/// Messages of the other context are not harmed, and nothing stays registered.
TEST(FabricMessages, of_a_context_that_a_rank_gives_up_all_end) {
    for (unsigned const seed : testing::FreshSeeds(40)) {
        FakeFabric fabric(3, seed, {});
        Traffic traffic(fabric, seed, 3, 60);
        std::uint64_t const given_up = std::uint64_t{1} << 40;
        std::mt19937_64 random(seed);
        for (Rank rank = 0; rank < 3; ++rank) {
            for (Half& half : traffic.halves[static_cast<std::size_t>(rank)])
                traffic.start(rank, half);
        }
        for (std::uint64_t left = random() % 60; left > 0; --left) fabric.step();
        fabric.at(2).end(given_up, std::array<FabricIndex, 3>{0, 1, 2}, true);
        int open = 1;
        for (int step = 0; step < 20'000 && open > 0; ++step) {
            fabric.step();
            open = 0;
            for (Rank rank = 0; rank < 3; ++rank) {
                for (Half& half : traffic.halves[static_cast<std::size_t>(rank)]) {
                    half.done = half.done || fabric.at(rank).finished(half.message);
                    open += half.done ? 0 : 1;
                    bool const with_it = half.letter.from == 2 || half.letter.to == 2;
                    if (half.done && (!with_it || half.letter.context != given_up)) {
                        EXPECT_FALSE(half.message.failed()) << "seed " << seed;
                    }
                }
            }
        }
        EXPECT_EQ(open, 0) << "seed " << seed;
        EXPECT_EQ(fabric.memory_shown(), 0U) << "seed " << seed;
        Content room(10);
        Message late = fabric.at(0).start_recv(FakeFabric::index(2), given_up, 9, room);
        bool has_ended = fabric.at(0).finished(late);
        for (int step = 0; step < 2000 && !has_ended; ++step) {
            fabric.step();
            has_ended = fabric.at(0).finished(late);
        }
        EXPECT_TRUE(has_ended && late.failed()) << "seed " << seed;
    }
}

TEST(FabricMessages, of_a_context_are_known_to_have_ended) {
    FakeFabric fabric(4, 1, {});
    std::vector<FabricIndex> const all{0, 1, 2, 3};
    fabric.at(2).end(their_context, std::array{FakeFabric::index(1)}, true);
    std::uint64_t const before = fabric.at(1).ends();
    for (int step = 0; step < 2000; ++step) fabric.step();
    EXPECT_NE(fabric.at(1).ends(), before);
    EXPECT_FALSE(fabric.at(1).all_take_part(their_context, all));
    EXPECT_TRUE(fabric.at(1).all_take_part(their_context + 1, all));
    EXPECT_TRUE(fabric.at(0).all_take_part(their_context, all));
    fabric.kill(3);
    EXPECT_FALSE(fabric.at(0).all_take_part(their_context, all));
    EXPECT_TRUE(fabric.at(0).all_take_part(their_context, std::span(all).first(3)));
}

/// A write for a receive that was given up may come late, when there is another receive.
TEST(FabricMessages, that_come_late_are_taken_for_no_others) {
    FakeFabric fabric(2, 1, {});
    Fabric& messages = fabric.at(1);
    Content room(20'000);
    Message lost = messages.start_recv(FakeFabric::index(0), their_context, 3, room);
    messages.end(their_context, std::array{FakeFabric::index(0)}, true);
    EXPECT_TRUE(messages.finished(lost) && lost.failed());
    Message other = messages.start_recv(FakeFabric::index(0), their_context + 1, 3, room);
    messages.take_write(FabricWriteData::pack({0, 10'000}, 64));  // Of the first receive.
    EXPECT_FALSE(messages.finished(other));
}

TEST(FabricMessages, are_no_longer_than_their_memory) {
    FakeFabric fabric(2, 1, {});
    Content room(20'000);
    Message receive = fabric.at(1).start_recv(FakeFabric::index(0), their_context, 3, room);
    fabric.at(1).take_write(FabricWriteData::pack({0, 50'000}, 64));
    EXPECT_TRUE(fabric.at(1).finished(receive));
    EXPECT_EQ(receive.received, 20'000);
}

/// As another version might send them: a flag that is neither true nor false, and memory for parts
/// that is not told.
TEST(FabricMessages, that_are_not_whole_do_no_harm) {
    FakeFabric fabric(2, 1, {});
    Content room(10), sent(100);
    Message receive = fabric.at(1).start_recv(FakeFabric::index(0), their_context, 3, room);
    FabricHeader header;
    header.from = 100, header.key = 901;
    header.message = {their_context, 3};
    std::memset(&header.synchronous, 104, sizeof header.synchronous);
    fabric.at(1).take(std::as_bytes(std::span(&header, 1)));
    EXPECT_TRUE(fabric.at(1).finished(receive));
    PlacedPart const part{.memory = sent.data(), .at = 0, .length = 100};
    Message const send =
        fabric.at(1).start_send(FakeFabric::index(0), their_context, 3, room, false, {&part, 1});
    header.kind = FabricKind::ready;
    header.bytes = room.size();
    fabric.at(1).take(std::as_bytes(std::span(&header, 1)));
    EXPECT_NE(send.handle, 0U);
}

TEST(FabricMessages, of_strangers_are_thrown_away) {
    FakeFabric fabric(2, 1, {});
    Content room(10);
    Message receive = fabric.at(1).start_recv(FakeFabric::index(0), their_context, 3, room);
    FabricHeader header;
    header.from = 100;
    header.message = {their_context, 3};
    header.key = 12345;
    fabric.at(1).take(std::as_bytes(std::span(&header, 1)));
    fabric.at(1).take({});
    EXPECT_FALSE(fabric.at(1).finished(receive));
    header.key = 901;
    fabric.at(1).take(std::as_bytes(std::span(&header, 1)));
    EXPECT_TRUE(fabric.at(1).finished(receive));
}

}  // namespace
}  // namespace sluice
