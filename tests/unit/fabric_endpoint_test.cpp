// Messages over libfabric itself: two endpoints of this process, a thread each, over each provider
// that this machine has. Left out where it has none.
#include "node_ranks.hpp"

#include "system/clock.hpp"
#include "system/wake_socket.hpp"
#include "transport/fabric.hpp"
#include "transport/fabric_offers.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Of libfabric, or of the file that is named in its place.
std::vector<std::string> providers() {
    std::vector<std::string> all;
    char const* const file = std::getenv("SLUICE_TEST_LIBFABRIC");
    if (file) open_as_fabric(file);
    for (FabricOffer const& offer : fabric_offers().all) {
        if (offer.why_not.empty() && offer.is_tested) all.push_back(offer.provider);
    }
    if (file && all.empty()) ADD_FAILURE() << fabric_offers().library;
    return all;
}

/// One end, and how it waits.
struct End {
    std::unique_ptr<Fabric> fabric;
    EventCount count{};
    std::unique_ptr<WakeSocket> socket;
    FabricIndex peer = 0;

    bool open(std::string const& provider) {
        std::string why;
        fabric = Fabric::open({provider, 2, 5}, why);
        if (!fabric) std::fprintf(stderr, "%s: %s\n", provider.c_str(), why.c_str());
        socket = std::make_unique<WakeSocket>(count);
        return fabric != nullptr;
    }
    /// Asleep between what comes.
    void finish(Message& message) {
        while (!fabric->finished(message)) {
            if (fabric->progress() || fabric->descriptor() < 0 || !fabric->may_sleep()) continue;
            double const seconds = fabric->waits_for_room() ? 1e-3 : 0.1;
            socket->sleep(fabric->descriptor(), count.events.load(), seconds);
        }
    }
};

struct Pair {
    End ends[2];
    bool open(std::string const& provider) {
        if (!ends[0].open(provider) || !ends[1].open(provider)) return false;
        ends[0].peer = ends[0].fabric->meet(ends[1].fabric->card());
        ends[1].peer = ends[1].fabric->meet(ends[0].fabric->card());
        return true;
    }
    /// Both ends at once; what they say is wrong.
    std::string run(std::function<std::string(End& end, bool is_first)> const& program) {
        std::string faults[2];
        std::thread other([&] { faults[1] = program(ends[1], false); });
        faults[0] = program(ends[0], true);
        other.join();
        return faults[0] + faults[1];
    }
};

constexpr std::uint64_t context = 3;

std::string ping_pong(End& end, bool is_first) {
    std::vector<std::size_t> sizes{0};
    for (std::size_t border : {8U, 64U, 8192U, 65536U, 1U << 20, 4U << 20}) {
        for (std::size_t size : {border - 1, border, border + 1}) sizes.push_back(size);
    }
    for (std::size_t const size : sizes) {
        Content const there = content(size, size), back = content(size + 1, size);
        Content got(size);
        Fabric& fabric = *end.fabric;
        Message incoming = fabric.start_recv(end.peer, context, 1, got);
        Message outgoing =
            is_first ? fabric.start_send(end.peer, context, 1, there, false) : Message{};
        end.finish(incoming);
        if (!is_first) outgoing = fabric.start_send(end.peer, context, 1, back, false);
        end.finish(outgoing);
        if (incoming.failed() || outgoing.failed()) return "a message failed";
        if (got != (is_first ? back : there)) return "wrong bytes of " + std::to_string(size);
    }
    return "";
}

TEST(FabricEndpoint, brings_messages_of_every_size_to_one_who_sleeps) {
    if (providers().empty()) GTEST_SKIP() << fabric_offers().library;
    for (std::string const& provider : providers()) {
        Pair pair;
        ASSERT_TRUE(pair.open(provider));
        EXPECT_EQ(pair.run(ping_pong), "") << provider;
    }
}

/// Many messages at once, both ways: more than there are slots.
std::string flood(End& end, int count) {
    std::vector<Content> sent, got;
    std::vector<Message> messages;
    for (int i = 0; i < count; ++i) {
        std::size_t const size = i % 7 == 0 ? 100'000 : static_cast<std::size_t>(i);
        sent.push_back(content(static_cast<std::uint64_t>(i), size));
        got.emplace_back(size);
    }
    for (int i = 0; i < count; ++i) {
        auto const at = static_cast<std::size_t>(i);
        messages.push_back(end.fabric->start_send(end.peer, context, 5, sent[at], i % 3 == 0));
        messages.push_back(end.fabric->start_recv(end.peer, context, 5, got[at]));
    }
    for (Message& message : messages) end.finish(message);
    while (end.fabric->has_unsent()) end.fabric->progress();  // The peer may wait for answers.
    return got == sent ? "" : "wrong bytes";
}

TEST(FabricEndpoint, brings_more_messages_than_it_has_slots) {
    if (providers().empty()) GTEST_SKIP() << fabric_offers().library;
    for (std::string const& provider : providers()) {
        Pair pair;
        ASSERT_TRUE(pair.open(provider));
        EXPECT_EQ(pair.run([](End& end, bool) { return flood(end, 500); }), "") << provider;
    }
}

/// Its slots there are full until it takes something, which may be long.
TEST(FabricEndpoint, lets_one_sleep_while_the_peer_takes_nothing) {
    if (providers().empty()) GTEST_SKIP() << fabric_offers().library;
    for (std::string const& provider : providers()) {
        Pair pair;
        ASSERT_TRUE(pair.open(provider));
        ASSERT_EQ(pair.run([](End& end, bool) { return flood(end, 3); }), "") << provider;
        End& end = pair.ends[0];
        Content const sent(100);
        for (int i = 0; i < 100; ++i)
            (void)end.fabric->start_send(end.peer, context, 9, sent, false);
        bool sleeps = false;
        SteadyClock clock;
        double const end_of_looks = clock.now() + 2;
        while (!sleeps && clock.now() < end_of_looks)
            sleeps = !end.fabric->progress() && end.fabric->may_sleep();
        EXPECT_TRUE(end.fabric->waits_for_room()) << provider;
        EXPECT_TRUE(sleeps) << provider;
    }
}

TEST(FabricEndpoint, tells_of_a_peer_that_is_gone) {
    if (providers().empty()) GTEST_SKIP() << fabric_offers().library;
    for (std::string const& provider : providers()) {
        Pair pair;
        ASSERT_TRUE(pair.open(provider));
        ASSERT_EQ(pair.run([](End& end, bool) { return flood(end, 3); }), "") << provider;
        int lost = 0;
        pair.ends[0].fabric->when_lost = [&](FabricCard const&) { ++lost; };
        pair.ends[1].fabric.reset();
        Content room(10);
        Message receive = pair.ends[0].fabric->start_recv(pair.ends[0].peer, context, 9, room);
        pair.ends[0].finish(receive);
        EXPECT_TRUE(receive.failed()) << provider;
        EXPECT_EQ(lost, 1) << provider;
    }
}

}  // namespace
}  // namespace sluice
