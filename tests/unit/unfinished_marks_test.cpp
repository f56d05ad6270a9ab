// Marks of bytes that are still to be written: seen by others, not by who holds them, and gone when
// they are released or their holder is.
#include "storage/unfinished_mark.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::unfinished_mark_test {
namespace {

struct UnfinishedMarks : ::testing::Test {
    Descriptor file{memfd_create("unfinished_mark_test", 0)};
    UnfinishedMark one{file.get()}, other{file.get()};
};

TEST_F(UnfinishedMarks, AreSeenByOthersInTheirRange) {
    ASSERT_TRUE(one.hold({100, 200}));
    EXPECT_TRUE(other.is_held_by_others({150, 160}));
    EXPECT_TRUE(other.is_held_by_others({0, 101}));
    EXPECT_FALSE(other.is_held_by_others({0, 100}));
    EXPECT_FALSE(other.is_held_by_others({200, 300}));
    EXPECT_FALSE(one.is_held_by_others({0, 300}));
    one.release({100, 200});
    EXPECT_FALSE(other.is_held_by_others({0, 300}));
}

TEST_F(UnfinishedMarks, MayOverlap) {
    ASSERT_TRUE(one.hold({0, 200}));
    ASSERT_TRUE(other.hold({100, 300}));
    EXPECT_TRUE(one.is_held_by_others({0, 300}));
    EXPECT_FALSE(one.is_held_by_others({0, 100}));
    other.release({100, 300});
    EXPECT_FALSE(one.is_held_by_others({0, 300}));
    EXPECT_TRUE(other.is_held_by_others({0, 300}));
}

TEST_F(UnfinishedMarks, EndWithTheirProcess) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    pid_t const child = fork();
    if (child == 0) {
        bool const held = UnfinishedMark(file.get()).hold({0, 10});
        UnfinishedMark kept(file.get());
        bool const again = kept.hold({0, 10});
        char const both = held && again ? 'y' : 'n';
        if (write(told[1], &both, 1) != 1) _exit(1);
        pause();
    }
    char both = 0;
    ASSERT_EQ(read(told[0], &both, 1), 1);
    EXPECT_EQ(both, 'y');
    EXPECT_TRUE(one.is_held_by_others({0, 10}));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(one.is_held_by_others({0, 10}));
    close(told[0]);
    close(told[1]);
}

TEST(UnfinishedMark, WithoutAFileThereAreNone) {
    UnfinishedMark none(-1);
    EXPECT_FALSE(none.hold({0, 10}));
    EXPECT_FALSE(none.is_held_by_others({0, 10}));
}

}  // namespace
}  // namespace sluice::unfinished_mark_test
