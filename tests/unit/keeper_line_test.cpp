// What a rank hands to its keeper: files by their identity, and descriptions that hold marks.
#include "behind/keeper_line.hpp"

#include "behind/unfinished_marks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::keeper_line_test {
namespace {

struct KeeperLines : ::testing::Test {
    KeeperLines() : KeeperLines(new_keeper_line()) {}
    explicit KeeperLines(std::pair<Descriptor, Descriptor> both)
        : kept(std::move(both.first)),
          ranks_end(std::move(both.second)),
          line(ranks_end.get()) {}

    HandedOver kept;
    Descriptor ranks_end;
    KeeperLine line;
    Descriptor file{memfd_create("keeper_line_test", MFD_CLOEXEC)};
    FileIdentity identity = identity_of(file.get()).value();
};

TEST_F(KeeperLines, HandOverFiles) {
    EXPECT_EQ(kept.file(identity), -1);
    ASSERT_TRUE(line.give_file(identity, file.get()));
    file.reset();  // The keeper has a descriptor of its own.
    kept.take();
    ASSERT_GE(kept.file(identity), 0);
    EXPECT_EQ(identity_of(kept.file(identity)), identity);
    EXPECT_EQ(fcntl(kept.file(identity), F_GETFD), FD_CLOEXEC);
    line.take_back(identity);
    kept.take();
    EXPECT_EQ(kept.file(identity), -1);
}

TEST_F(KeeperLines, KeepWhatARankThatHasEndedHandedOver) {
    ASSERT_TRUE(line.give_file(identity, file.get()));
    ranks_end.reset();
    kept.take();
    EXPECT_GE(kept.file(identity), 0);
    EXPECT_EQ(kept.socket(), -1);
    kept.close_files();
    EXPECT_EQ(kept.file(identity), -1);
}

TEST_F(KeeperLines, KeepMarksUntilTheyAreEnded) {
    auto marks = std::make_unique<UnfinishedMarks>(nullptr, file.get(), identity);
    UnfinishedMarks other(nullptr, file.get(), identity);
    ASSERT_TRUE(marks->hold({0, 10}));
    ASSERT_TRUE(line.give_marks(identity, marks->descriptor_of_file()));
    marks.reset();  // As the end of the rank does.
    kept.take();
    EXPECT_TRUE(other.is_held_by_others({0, 10}));
    kept.end_marks();
    EXPECT_FALSE(other.is_held_by_others({0, 10}));
}

TEST_F(KeeperLines, KeepTheMarksOfEachHandleOfAFile) {
    UnfinishedMarks other(nullptr, file.get(), identity);
    for (Offset at : {0, 100}) {
        UnfinishedMarks marks(nullptr, file.get(), identity);
        ASSERT_TRUE(marks.hold({at, at + 10}));
        ASSERT_TRUE(line.give_marks(identity, marks.descriptor_of_file()));
    }
    kept.take();
    EXPECT_TRUE(other.is_held_by_others({0, 10}));
    EXPECT_TRUE(other.is_held_by_others({100, 110}));
    kept.end_marks();
    EXPECT_FALSE(other.is_held_by_others({0, 110}));
}

/// A keeper that takes nothing for a while.
TEST_F(KeeperLines, DoNotWaitForTheKeeper) {
    int given = 0;
    for (constexpr int most = 100000; given < most && line.give_file(identity, file.get());)
        ++given;
    EXPECT_GT(given, 10);
    kept.take();
    EXPECT_TRUE(line.give_file(identity, file.get()));
}

TEST(KeeperLine, WithoutAKeeperTakesNothing) {
    EXPECT_FALSE(KeeperLine().give_file({1, 2}, STDIN_FILENO));
    EXPECT_FALSE(KeeperLine().give_marks({1, 2}, STDIN_FILENO));
}

}  // namespace
}  // namespace sluice::keeper_line_test
