// What is left of messages when all are complete here, or their operation is given up.
#include "fake_fabric.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint64_t untaken_context = 7;

/// The wire may hold them back: who sent them goes on making progress.
TEST(FabricUntaken, short_messages_are_known_until_the_peer_credits_them) {
    for (bool const is_lost : {false, true}) {
        FakeFabric fabric(2, 1, {.slots = 16, .refused_percent = 0, .tells_of_death = false});
        Fabric& sender = fabric.at(0);
        Content const sent = content(1, 100);
        for (int i = 0; i < 8; ++i) {
            EXPECT_FALSE(sender.has_unsent());
            Message message =
                sender.start_send(FakeFabric::index(1), untaken_context, 5, sent, false);
            EXPECT_TRUE(sender.finished(message));
        }
        EXPECT_TRUE(sender.has_unsent());
        if (is_lost) fabric.kill(1);
        for (int i = 0; i < 1000; ++i) fabric.step();
        EXPECT_FALSE(sender.has_unsent());
    }
}

/// A peer that has all it needs may take no more.
TEST(FabricUntaken, messages_that_show_memory_are_not_waited_for) {
    FakeFabric fabric(2, 1, {.slots = 16, .refused_percent = 0});
    Fabric& receiver = fabric.at(0);
    Content const sent = content(1, 100);
    (void)receiver.start_send(FakeFabric::index(1), untaken_context, 5, sent, false);
    Content room(100'000);
    for (int i = 0; i < 12; ++i)
        (void)receiver.start_recv(FakeFabric::index(1), untaken_context, i, room);
    EXPECT_FALSE(receiver.has_unsent());
}

/// Nothing of them goes any more, and no peer is told.
TEST(FabricUntaken, messages_that_are_abandoned_end) {
    FakeFabric fabric(2, 1, {.slots = 4});
    Fabric& messages = fabric.at(0);
    Content const sent = content(1, 100);
    Content room(100'000);
    std::vector<Message> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(messages.start_send(FakeFabric::index(1), untaken_context, i, sent, true));
        all.push_back(messages.start_recv(FakeFabric::index(1), untaken_context, i, room));
    }
    messages.end(untaken_context, std::array{FakeFabric::index(1)}, false);
    for (Message& message : all) EXPECT_TRUE(messages.finished(message) && message.failed());
    EXPECT_EQ(messages.under_way(), 0);
    messages.progress();
    EXPECT_FALSE(messages.waits_for_room());
}

}  // namespace
}  // namespace sluice
