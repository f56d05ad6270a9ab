// What a durable journal keeps when its node crashes, or when what it has cannot be made durable.
#include "drawn.hpp"
#include "journal_node.hpp"

#include <gtest/gtest.h>

namespace sluice::journal_crash_test {
namespace {

using namespace journal_crash;

TEST(JournalCrash, NothingThatWasAcknowledgedIsLost) {
    int crashes = 0, tried = 0;
    for (unsigned const seed : testing::FreshSeeds(3000)) {
        ++tried;
        Random random(seed);
        CrashingNode node(seed, draw(random, 1, 250));
        node.live(60);
        if (!node.has_crashed()) continue;
        ++crashes;
        ASSERT_EQ(node.first_wrong_after_recovery(), -1) << "seed " << seed;
    }
    EXPECT_GT(crashes, tried / 2);
}

/// What could not be made durable stays in the journal, and nothing more is taken.
TEST(JournalCrash, AFileThatCannotBeSyncedKeepsItsRecords) {
    Descriptor const fd(memfd_create("journal_crash_test", 0));
    Bytes const bytes = journal_bytes_for(room);
    ASSERT_EQ(ftruncate(fd.get(), bytes), 0);
    auto const journal =
        Journal::create(fd.get(), bytes, {[] { return Error{}; }, [] { return std::int64_t{1}; }});
    Request request;
    request.bytes = 100;
    JournaledFile const file{{"/f", {1, 2}}, [] { return Error{.status = Status::io}; }};
    auto entry = journal->take(request, file, {0, 100});
    ASSERT_FALSE(entry->commit());
    auto const mark = std::make_shared<int>(0);
    entry->keep(mark);
    entry.reset();
    EXPECT_EQ(mark.use_count(), 2);
    EXPECT_TRUE(journal->checkpoint());
    EXPECT_TRUE(journal->has_given_up());
    EXPECT_TRUE(journal->holds({1, 2}, {50, 60}));
    EXPECT_EQ(mark.use_count(), 1) << "nobody waits for it for ever";
    EXPECT_EQ(journal->take(request, file, {200, 300}), nullptr);
    journal->withdraw({1, 2}, {99, 110});
    EXPECT_FALSE(journal->holds({1, 2}, {0, 1000}));
}

/// A write whose record is not known to be on the device is the call's own.
TEST(JournalCrash, AJournalThatCannotBeSyncedTakesNothingMore) {
    Descriptor const fd(memfd_create("journal_crash_test", 0));
    Bytes const bytes = journal_bytes_for(room);
    ASSERT_EQ(ftruncate(fd.get(), bytes), 0);
    auto const journal = Journal::create(
        fd.get(), bytes,
        {[] { return Error{.status = Status::no_space}; }, [] { return std::int64_t{1}; }});
    Request request;
    request.bytes = 100;
    auto entry = journal->take(request, {{"/f", {1, 2}}, [] { return Error{}; }}, {0, 100});
    EXPECT_TRUE(entry->commit());
    entry.reset();
    EXPECT_FALSE(journal->could_take(request, {"/f", {1, 2}}));
    (void)journal->checkpoint();
    EXPECT_TRUE(journal->is_empty());
}

}  // namespace
}  // namespace sluice::journal_crash_test
