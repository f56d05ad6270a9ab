// Files that are none, or that take no more, through all engines. What all storages do with usual
// files is in conformance_test.cpp.
#include "engines.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/mman.h>
#include <sys/resource.h>

namespace sluice::storage_test {
namespace {

class PosixFileTest : public ::testing::TestWithParam<Engine> {
protected:
    void SetUp() override {
        if (auto const why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
    }
    std::string made(std::size_t bytes) {
        return conformance::make_file(folder_.path() + "/file", pattern(bytes));
    }
    Status transfer(PosixFile& file, ListTransfer& what) {
        file.start(what);
        doorbell_.wait_for(what);
        return what.status();
    }

    TestFolder folder_;
    conformance::Doorbell doorbell_;  // Outlives those whose threads ring it.
    EngineParts parts_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, PosixFileTest, ::testing::ValuesIn(all_engines()),
                         [](auto const& of) { return of.param.name(); });

TEST_P(PosixFileTest, NoPermission) {
    auto const path = made(10);
    chmod(path.c_str(), 0);
    if (access(path.c_str(), R_OK) == 0) GTEST_SKIP() << "the superuser may read everything";
    PosixFile file(path, AccessMode::read, parts_.way(), doorbell_.ringer());
    Buffer memory(10);
    ListTransfer read(Direction::read, {{0, memory.data(), 10}});
    EXPECT_EQ(transfer(file, read), Status::access);
}

/// The first transfer opens the file and goes another way: the second one is like all others.
TEST_P(PosixFileTest, AFullDevice) {
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    PosixFile file("/dev/full", AccessMode::write, parts_.way(), doorbell_.ringer());
    auto memory = pattern(100'000);
    for (int i = 0; i < 3; ++i) {
        ListTransfer write(Direction::write, pieces_of(memory, 10, 1));
        EXPECT_EQ(transfer(file, write), Status::no_space);
        EXPECT_EQ(write.bytes, 0);
        ListTransfer whole(Direction::write, {{0, memory.data(), 100'000}});
        EXPECT_EQ(transfer(file, whole), Status::no_space);
    }
}

/// A limit of the file's size: first a short count, then EFBIG.
TEST_P(PosixFileTest, WritesUpToALimit) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const limit{.rlim_cur = 2'500'000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    auto memory = pattern(4'000'000);
    auto const path = made(10);
    {
        PosixFile file(path, AccessMode::both, parts_.way(), doorbell_.ringer());
        setrlimit(RLIMIT_FSIZE, &limit);
        ListTransfer write(Direction::write,
                           {{0, memory.data(), static_cast<Bytes>(memory.size())}});
        EXPECT_EQ(transfer(file, write), Status::no_space);
        setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_EQ(write.bytes, 2'500'000);
        Buffer back(memory.size());
        ListTransfer read(Direction::read, {{0, back.data(), static_cast<Bytes>(back.size())}});
        EXPECT_EQ(transfer(file, read), Status::ok);
        EXPECT_EQ(read.end_of_file, 2'500'000);
        EXPECT_EQ(std::memcmp(back.data(), memory.data(), 2'500'000), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
}

/// A pipe gives what it has: each request is short, and gone on with.
TEST_P(PosixFileTest, ShortCounts) {
    if (GetParam().engine != StorageEngine::uring) GTEST_SKIP() << "positional calls refuse pipes";
    std::string const path = folder_.path() + "/pipe";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::jthread const writer([&] {
        int const fd = open(path.c_str(), O_WRONLY);
        auto const content = pattern(1000);
        for (std::size_t i = 0; i < 1000; i += 100) {
            EXPECT_EQ(write(fd, content.data() + i, 100), 100);
            usleep(1000);
        }
        close(fd);
    });
    PosixFile file(path, AccessMode::read, parts_.way(), doorbell_.ringer());
    Buffer memory(1000);
    ListTransfer read(Direction::read, {{0, memory.data(), 1000}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(read.bytes, 1000);
    EXPECT_EQ(memory, pattern(1000));
}

TEST(Uring, WaitsForItsTransfersBeforeItEnds) {
    if (!Uring::available()) GTEST_SKIP() << "no io_uring here";
    int const fd = memfd_create("storage-test", MFD_CLOEXEC);
    auto memory = pattern(50'000);
    std::atomic<int> done{0};
    std::vector<std::unique_ptr<ListTransfer>> all;
    {
        auto const ring = Uring::make(2);
        for (int i = 0; i < 50; ++i) {
            all.push_back(
                std::make_unique<ListTransfer>(Direction::write, pieces_of(memory, 100, 1)));
            ring->start({.fd = fd}, *all.back(), [&done] { ++done; });
        }
    }
    close(fd);
    EXPECT_EQ(done, 50);
    for (auto const& each : all) EXPECT_EQ(each->bytes, 25'000);
}

}  // namespace
}  // namespace sluice::storage_test
