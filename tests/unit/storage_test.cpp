// Files that are none, or that take no more, and transfers that several threads share. What all
// storages do with usual files is in conformance_test.cpp.
#include "posix_files.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/mman.h>
#include <sys/resource.h>

namespace sluice::storage_test {
namespace {

class PosixFileTest : public ::testing::TestWithParam<PageCache> {
protected:
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
    FileParts parts_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(PageCaches, PosixFileTest, ::testing::ValuesIn(page_caches),
                         [](auto const& of) { return name_of(of.param); });

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

// ---- Transfers that several threads share -------------------------------------------------------

/// Holds each request back until so many are under way.
class Crowd final : public Faults {
public:
    explicit Crowd(int wanted) : wanted_(wanted) {}
    long meet(Request const& request) override {
        std::unique_lock lock(mutex_);
        most_ = std::max(most_, ++here_);
        all_here_.notify_all();
        all_here_.wait_for(lock, std::chrono::seconds(20), [this] { return most_ >= wanted_; });
        --here_;
        return request.bytes;
    }
    [[nodiscard]] int most() const noexcept { return most_; }

private:
    std::mutex mutex_;
    std::condition_variable all_here_;
    int const wanted_;
    int here_ = 0, most_ = 0;
};

TEST(DividedTransfer, AllIdleThreadsMakeItsRequests) {
    constexpr int threads = 3;
    TestFolder const folder;
    auto const path = conformance::make_file(folder.path() + "/file", pattern(10'000));
    WorkerPool pool(threads);
    Crowd crowd(threads);
    conformance::Doorbell doorbell;
    PosixFile file(path, AccessMode::both,
                   {.pool = pool, .page_cache = PageCache::direct_io, .faults = &crowd},
                   doorbell.ringer());
    if (is_in_memory(open_file(path, AccessMode::read).descriptor.get()))
        GTEST_SKIP() << "these files are in memory only";
    Buffer memory(10'000);
    ListTransfer write(Direction::write, pieces_of(memory, 100, 1));
    file.start(write);
    doorbell.wait_for(write);
    EXPECT_EQ(write.status(), Status::ok);
    EXPECT_EQ(write.bytes, 5'000);
    EXPECT_EQ(crowd.most(), threads);
}

/// Threads that come when all is done must not touch the transfer, nor the file.
TEST(DividedTransfer, MayBeGoneWhenItIsDone) {
    TestFolder const folder;
    auto const path = conformance::make_file(folder.path() + "/file", pattern(600));
    Buffer memory(600);
    WorkerPool pool(4);
    conformance::Doorbell doorbell;
    for (int i = 0; i < 300; ++i) {
        PosixFile file(path, AccessMode::both, {.pool = pool, .page_cache = PageCache::direct_io},
                       doorbell.ringer());
        ListTransfer write(Direction::write, pieces_of(memory, 100, 1));
        file.start(write);
        doorbell.wait_for(write);
        ASSERT_EQ(write.bytes, 300);
    }
}

}  // namespace
}  // namespace sluice::storage_test
