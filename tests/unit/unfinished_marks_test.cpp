// Marks of bytes that are still to be written: seen by others, not by who holds them, and gone when
// they are released or their holder is.
#include "behind/unfinished_marks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sluice::unfinished_marks_test {
namespace {

/// Two processes of this user on this node, as far as the system's locks are concerned.
struct OfTwo : ::testing::TestWithParam<bool> {
    Descriptor file{memfd_create("unfinished_marks_test", 0)};
    std::string folder = ::testing::TempDir();
    FileIdentity identity = identity_of(file.get()).value();
    UnfinishedMarks one = marks(), other = marks();

    [[nodiscard]] UnfinishedMarks marks() const {
        return {GetParam() ? MarkTable::of_node(folder) : nullptr, file.get(), identity};
    }
};
INSTANTIATE_TEST_SUITE_P(Marks, OfTwo, ::testing::Bool(), [](auto const& in_table) {
    return in_table.param ? "InATableOfTheNode" : "InTheFile";
});

TEST_P(OfTwo, AreSeenByOthersInTheirRange) {
    ASSERT_TRUE(one.hold({100, 200}));
    EXPECT_TRUE(other.is_held_by_others({150, 160}));
    EXPECT_TRUE(other.is_held_by_others({0, 101}));
    EXPECT_FALSE(other.is_held_by_others({0, 100}));
    EXPECT_FALSE(other.is_held_by_others({200, 300}));
    EXPECT_FALSE(one.is_held_by_others({0, 300}));
    one.release({100, 200});
    EXPECT_FALSE(other.is_held_by_others({0, 300}));
}

TEST_P(OfTwo, MayOverlap) {
    ASSERT_TRUE(one.hold({0, 200}));
    ASSERT_TRUE(other.hold({100, 300}));
    EXPECT_TRUE(one.is_held_by_others({0, 300}));
    EXPECT_FALSE(one.is_held_by_others({0, 100}));
    other.release({100, 300});
    EXPECT_FALSE(one.is_held_by_others({0, 300}));
    EXPECT_TRUE(other.is_held_by_others({0, 300}));
}

TEST_P(OfTwo, OfOneProcessMayOverlapToo) {
    ASSERT_TRUE(one.hold({0, 200}));
    ASSERT_TRUE(one.hold({100, 300}));
    ASSERT_TRUE(one.hold({100, 300}));
    one.release({0, 200});
    EXPECT_FALSE(other.is_held_by_others({0, 100}));
    EXPECT_TRUE(other.is_held_by_others({100, 101}));
    one.release({100, 300});
    EXPECT_TRUE(other.is_held_by_others({299, 300}));
    one.release({100, 300});
    EXPECT_FALSE(other.is_held_by_others({0, 300}));
}

TEST_P(OfTwo, EndWithTheirProcess) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    pid_t const child = fork();
    if (child == 0) {
        bool const held = marks().hold({0, 10});
        UnfinishedMarks kept = marks();
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

TEST(UnfinishedMarks, WithoutAFileThereAreNone) {
    UnfinishedMarks none(nullptr, -1, {});
    EXPECT_FALSE(none.hold({0, 10}));
    EXPECT_FALSE(none.is_held_by_others({0, 10}));
}

/// A table in a folder of this test, as of several processes.
struct Tables : ::testing::Test {
    Tables() {
        std::string text = ::testing::TempDir() + "marks-XXXXXX";
        folder = mkdtemp(text.data());
    }
    ~Tables() override { std::filesystem::remove_all(folder); }
    [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(folder); }

    std::string folder;
    FileIdentity const file{7, 11};
};

TEST_F(Tables, AreNoMatterOfLocksOfTheFile) {
    Descriptor const written(memfd_create("unfinished_marks_test", 0));
    Descriptor const theirs(open(name_of_descriptor(written.get()).c_str(), O_RDWR | O_CLOEXEC));
    UnfinishedMarks one(MarkTable::of_node(folder), written.get(), file);
    UnfinishedMarks other(MarkTable::of_node(folder), written.get(), file);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    ASSERT_EQ(fcntl(theirs.get(), F_OFD_SETLK, &whole), 0);
    EXPECT_FALSE(one.is_held_by_others({0, 100}));
    EXPECT_TRUE(one.hold({0, 100}));
    EXPECT_TRUE(other.is_held_by_others({0, 100}));
}

TEST_F(Tables, TellFilesApart) {
    UnfinishedMarks one(MarkTable::of_node(folder), -1, file);
    UnfinishedMarks other(MarkTable::of_node(folder), -1, {7, 12});
    ASSERT_TRUE(one.hold({0, 100}));
    EXPECT_FALSE(other.is_held_by_others({0, endless}));
}

TEST_F(Tables, HaveSeveralHandlesInAPlace) {
    auto const table = MarkTable::of_node(folder);
    UnfinishedMarks one(table, -1, file), another(table, -1, file);
    UnfinishedMarks other(MarkTable::of_node(folder), -1, file);
    ASSERT_TRUE(one.hold({0, 100}));
    ASSERT_TRUE(another.hold({50, 150}));
    one.release({0, 100});
    EXPECT_FALSE(other.is_held_by_others({0, 50}));
    EXPECT_TRUE(other.is_held_by_others({50, 60}));
    another.release({50, 150});
    EXPECT_FALSE(other.is_held_by_others({0, endless}));
}

TEST_F(Tables, SeeNoMarkBeyondWhatHasAPlace) {
    UnfinishedMarks one(MarkTable::of_node(folder), -1, file);
    UnfinishedMarks other(MarkTable::of_node(folder), -1, file);
    EXPECT_FALSE(one.hold({Offset{1} << 50, (Offset{1} << 50) + 1}));
    EXPECT_FALSE(one.hold({0, Offset{1} << 50}));
    EXPECT_FALSE(one.is_held_by_others({Offset{1} << 50, endless}));
    ASSERT_TRUE(one.hold({0, 1}));
    EXPECT_TRUE(other.is_held_by_others({0, endless}));
}

TEST_F(Tables, StayWithWhomTheyWereHandedTo) {
    auto table = MarkTable::of_node(folder);
    Descriptor const handed(dup(table->descriptor()));
    auto one = std::make_unique<UnfinishedMarks>(table, -1, file);
    UnfinishedMarks other(MarkTable::of_node(folder), -1, file);
    ASSERT_TRUE(one->hold({0, 100}));
    one.reset();
    close(table->descriptor());  // As the end of the process does.
    EXPECT_TRUE(other.is_held_by_others({0, 100}));
    MarkTable::end(handed.get(), true, folder);
    EXPECT_FALSE(other.is_held_by_others({0, 100}));
    EXPECT_EQ(fcntl(handed.get(), F_DUPFD, table->descriptor()), table->descriptor());
}

TEST_F(Tables, AreRemovedByTheLast) {
    auto one = MarkTable::of_node(folder);
    auto other = MarkTable::of_node(folder);
    ASSERT_TRUE(one && other);
    one.reset();
    EXPECT_FALSE(is_empty());
    other.reset();
    EXPECT_TRUE(is_empty());
}

TEST_F(Tables, AreNobodyElses) {
    std::string const path = folder + "/sluice-marks-" + std::to_string(geteuid());
    std::filesystem::create_symlink(folder + "/elsewhere", path);
    EXPECT_EQ(MarkTable::of_node(folder), nullptr);
    std::filesystem::remove(path);
    close(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    std::filesystem::permissions(path, std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    EXPECT_EQ(MarkTable::of_node(folder), nullptr);
    EXPECT_EQ(MarkTable::of_node(folder + "/none"), nullptr);
}

TEST_F(Tables, AreNotOfChildren) {
    auto table = MarkTable::of_node(folder);
    auto const one = std::make_unique<UnfinishedMarks>(table, -1, file);
    ASSERT_TRUE(one->hold({0, 100}));
    pid_t const child = fork();
    if (child == 0) _exit(fcntl(table->descriptor(), F_GETFD) < 0 ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

/// Some come and some go, all the time: those that are there see each other.
TEST_F(Tables, MayComeAndGoAtAnyTime) {
    std::atomic<int> faults{0};
    auto const rounds = [&] {
        for (int i = 0; i < 200; ++i) {
            UnfinishedMarks one(MarkTable::of_node(folder), -1, file);
            UnfinishedMarks other(MarkTable::of_node(folder), -1, file);
            if (!one.hold({0, 10}) || !other.is_held_by_others({0, 10})) ++faults;
        }
    };
    std::thread beside(rounds);
    rounds();
    beside.join();
    EXPECT_EQ(faults, 0);
    EXPECT_TRUE(is_empty());
}

}  // namespace
}  // namespace sluice::unfinished_marks_test
