// Files of journals in a folder, and what is left there of processes that were killed.
#include "behind/journal_folder.hpp"

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::journal_folder_test {
namespace {

constexpr Bytes journal_bytes = 1 << 20;
constexpr int skipped = 77;

class JournalFolder : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_NE(mkdtemp(path_.data()), nullptr); }
    void TearDown() override { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (auto const& entry : std::filesystem::directory_iterator(path_))
            all.push_back(entry.path().filename());
        return all;
    }
    std::string path_ = std::filesystem::temp_directory_path() / "journals_XXXXXX";
};

TEST_F(JournalFolder, has_a_journal_that_its_maker_holds) {
    {
        JournalFile const made = make_journal_file(path_, journal_bytes, 3);
        ASSERT_FALSE(made.error) << made.error.what;
        ASSERT_TRUE(std::filesystem::exists(made.path));
        EXPECT_EQ(std::filesystem::file_size(made.path), static_cast<std::size_t>(journal_bytes));
        EXPECT_EQ(names().size(), 1U);
        EXPECT_EQ(count_left_journals(path_), 0U);
    }
    EXPECT_EQ(count_left_journals(path_), 1U);
}

/// From here on the process ends when it asks for room in a file.
bool dies_of_fallocate() {
    sock_filter program[]{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog const filter{std::size(program), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(JournalFolder, is_empty_after_a_process_that_was_killed_while_it_made_one) {
    pid_t const child = fork();
    if (child == 0) {
        rlimit const no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        if (!dies_of_fallocate()) _exit(skipped);
        (void)make_journal_file(path_, journal_bytes, 0);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == skipped) GTEST_SKIP() << "no seccomp here";
    ASSERT_TRUE(WIFSIGNALED(status)) << "it was not killed";
    clear_unfinished_journals(path_);
    EXPECT_EQ(names(), std::vector<std::string>{});
}

/// As file systems without O_TMPFILE have it.
TEST_F(JournalFolder, loses_what_nobody_holds_and_is_no_journal_yet) {
    std::string const held = path_ + "/a.sluice-journal.new",
                      left = path_ + "/b.sluice-journal.new";
    Descriptor const own(::open(held.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    ASSERT_EQ(flock(own.get(), LOCK_EX), 0);
    {
        Descriptor const made(::open(left.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR));
    }
    clear_unfinished_journals(path_);
    EXPECT_EQ(names(), std::vector<std::string>{"a.sluice-journal.new"});
}

}  // namespace
}  // namespace sluice::journal_folder_test
