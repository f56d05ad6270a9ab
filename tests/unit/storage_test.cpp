// Files of the system, through both engines: the pool of threads and io_uring.
#include "list_transfer.hpp"
#include "ports/posix.hpp"
#include "ports/uring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Waits for transfers as a rank does: the file rings.
class Bell {
public:
    [[nodiscard]] std::function<void()> ringer() {
        return [this] {
            std::lock_guard const lock(mutex_);
            rung_.notify_all();
        };
    }
    void wait_for(Transfer const& transfer) {
        std::unique_lock lock(mutex_);
        rung_.wait(lock, [&] { return transfer.done.load(); });
    }

private:
    std::mutex mutex_;
    std::condition_variable rung_;
};

/// The parameter: whether transfers go through io_uring.
class PosixFileTest : public ::testing::TestWithParam<bool> {
protected:
    PosixFileTest() {
        char name[] = "/tmp/sluice-posix-XXXXXX";
        folder_ = mkdtemp(name);
    }
    ~PosixFileTest() override { std::filesystem::remove_all(folder_); }
    void SetUp() override {
        if (GetParam() && !Uring::available()) GTEST_SKIP() << "no io_uring here";
        if (GetParam()) ring_ = Uring::make(2);
    }

    std::string made(std::size_t bytes) {
        std::string const path = folder_ + "/file";
        int const fd = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
        auto const content = pattern(bytes);
        EXPECT_EQ(write(fd, content.data(), bytes), static_cast<ssize_t>(bytes));
        close(fd);
        return path;
    }
    Status transfer(PosixFile& file, ListTransfer& what) {
        file.start(what);
        bell_.wait_for(what);
        return what.status;
    }

    PosixWay way() { return {.pool = pool_, .ring = ring_.get()}; }

    std::string folder_;
    Bell bell_;  // Outlives those whose threads ring it.
    std::unique_ptr<Uring> ring_;
    WorkerPool pool_{2};
};

INSTANTIATE_TEST_SUITE_P(Engines, PosixFileTest, ::testing::Values(false, true),
                         [](auto const& engine) { return engine.param ? "uring" : "threads"; });

TEST_P(PosixFileTest, WritesAndReadsManySegments) {
    PosixFile file(made(10), AccessMode::both, way(), bell_.ringer());
    for (int const touching : {1, 1000}) {  // More than one system call can take, and one by one.
        auto memory = pattern(40'000, touching);
        auto const segments = pieces_of(memory, 16, touching);
        ListTransfer write(Direction::write, segments);
        EXPECT_EQ(transfer(file, write), Status::ok);
        EXPECT_EQ(write.bytes, total_of(segments));
        Buffer back(memory.size());
        ListTransfer read(Direction::read, pieces_of(back, 16, touching));
        EXPECT_EQ(transfer(file, read), Status::ok);
        EXPECT_EQ(expected_file(pieces_of(back, 16, touching)), expected_file(segments));
    }
    EXPECT_EQ(file.sync(), Status::ok);
}

TEST_P(PosixFileTest, TellsWhereTheFileEnds) {
    PosixFile file(made(1000), AccessMode::read, way(), bell_.ringer());
    Buffer memory(500, std::byte{0xee});
    ListTransfer read(Direction::read, {{900, memory.data(), 300}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(read.bytes, 100);
    EXPECT_EQ(read.end_of_file, 1000);
    EXPECT_EQ(memory[100], std::byte{0xee});
}

TEST_P(PosixFileTest, AMissingFile) {
    PosixFile file(folder_ + "/none", AccessMode::both, way(), bell_.ringer());
    Buffer memory(10);
    for (int attempt = 0; attempt < 2; ++attempt) {
        ListTransfer read(Direction::read, {{0, memory.data(), 10}});
        EXPECT_EQ(transfer(file, read), Status::no_such_file);
        EXPECT_EQ(read.bytes, 0);
    }
    EXPECT_EQ(file.sync(), Status::ok);
}

TEST_P(PosixFileTest, ForbiddenDirections) {
    auto const path = made(10);
    Buffer memory(10);
    PosixFile reader(path, AccessMode::read, way(), bell_.ringer());
    ListTransfer write(Direction::write, {{0, memory.data(), 10}});
    EXPECT_NE(transfer(reader, write), Status::ok);
    PosixFile writer(path, AccessMode::write, way(), bell_.ringer());
    ListTransfer read(Direction::read, {{0, memory.data(), 10}});
    EXPECT_NE(transfer(writer, read), Status::ok);
}

TEST_P(PosixFileTest, NoPermission) {
    auto const path = made(10);
    chmod(path.c_str(), 0);
    if (access(path.c_str(), R_OK) == 0) GTEST_SKIP() << "the superuser may read everything";
    PosixFile file(path, AccessMode::read, way(), bell_.ringer());
    Buffer memory(10);
    ListTransfer read(Direction::read, {{0, memory.data(), 10}});
    EXPECT_EQ(transfer(file, read), Status::access);
}

TEST_P(PosixFileTest, AFullDevice) {
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    PosixFile file("/dev/full", AccessMode::write, way(), bell_.ringer());
    auto memory = pattern(100);
    ListTransfer write(Direction::write, {{0, memory.data(), 100}});
    EXPECT_EQ(transfer(file, write), Status::no_space);
}

/// Much address space over little memory: the same pages again and again.
class AliasedMemory {
public:
    explicit AliasedMemory(std::size_t bytes) : bytes_(bytes) {
        constexpr std::size_t part = 16 << 20;
        int const fd = memfd_create("sluice-test", MFD_CLOEXEC);
        EXPECT_EQ(ftruncate(fd, part), 0);
        at_ = static_cast<std::byte*>(
            mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        for (std::size_t done = 0; done < bytes; done += part) {
            EXPECT_NE(mmap(at_ + done, std::min(part, bytes - done), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, 0),
                      MAP_FAILED);
        }
        close(fd);
    }
    ~AliasedMemory() { munmap(at_, bytes_); }
    AliasedMemory(AliasedMemory const&) = delete;
    AliasedMemory& operator=(AliasedMemory const&) = delete;
    [[nodiscard]] std::byte* data() const noexcept { return at_; }

private:
    std::size_t bytes_;
    std::byte* at_ = nullptr;
};

/// One segment longer than any system call transfers, from a file of holes.
TEST_P(PosixFileTest, MoreThanTwoGibibytesAtOnce) {
    if (GetParam()) GTEST_SKIP() << "its requests are never that long";
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer would note every byte";
#endif
    constexpr Bytes length = (Bytes{1} << 31) + 8192;
    auto const path = made(10);
    ASSERT_EQ(truncate(path.c_str(), length + 100), 0);
    PosixFile file(path, AccessMode::both, way(), bell_.ringer());
    std::byte last{0x77};
    ListTransfer mark(Direction::write, {{length - 1, &last, 1}});
    ASSERT_EQ(transfer(file, mark), Status::ok);
    AliasedMemory const memory(length);
    ListTransfer read(Direction::read, {{0, memory.data(), length}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(read.bytes, length);
    EXPECT_EQ(memory.data()[length - 1], last);
}

TEST_P(PosixFileTest, ManyTransfersAtOnce) {
    PosixFile file(made(10), AccessMode::both, way(), bell_.ringer());
    auto memory = pattern(100 * 500);
    std::vector<std::unique_ptr<ListTransfer>> all;
    for (Offset i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<ListTransfer>(
            Direction::write, std::vector<Segment>{{i * 500, memory.data() + i * 500, 500}}));
        file.start(*all.back());
    }
    for (auto const& transfer : all) bell_.wait_for(*transfer);
    Buffer back(memory.size());
    ListTransfer read(Direction::read, {{0, back.data(), static_cast<Bytes>(back.size())}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(back, memory);
}

/// The first transfer opens the file and goes another way: the second one is like all others.
TEST_P(PosixFileTest, AFullDeviceAgain) {
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    PosixFile file("/dev/full", AccessMode::write, way(), bell_.ringer());
    auto memory = pattern(100'000);
    for (int i = 0; i < 3; ++i) {
        ListTransfer write(Direction::write, pieces_of(memory, 10, 1));
        EXPECT_EQ(transfer(file, write), Status::no_space);
        EXPECT_EQ(write.bytes, 0);
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
        PosixFile file(path, AccessMode::both, way(), bell_.ringer());
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

/// Several requests of one read are behind the end: the first end counts.
TEST_P(PosixFileTest, LongReadsAcrossTheEnd) {
    constexpr std::size_t size = 2'345'678;
    auto const path = made(size);
    PosixFile file(path, AccessMode::read, way(), bell_.ringer());
    Buffer memory(20 << 20, std::byte{0xee});
    for (int i = 0; i < 3; ++i) {
        ListTransfer read(Direction::read, {{0, memory.data(), 20 << 20}});
        EXPECT_EQ(transfer(file, read), Status::ok);
        EXPECT_EQ(read.bytes, static_cast<Bytes>(size));
        EXPECT_EQ(read.end_of_file, static_cast<Offset>(size));
        EXPECT_EQ(memory[size], std::byte{0xee});
    }
    EXPECT_EQ(std::memcmp(memory.data(), pattern(size).data(), size), 0);
}

/// A pipe gives what it has: each request is short, and gone on with.
TEST_P(PosixFileTest, ShortCounts) {
    if (!ring_) GTEST_SKIP() << "positional calls refuse pipes";
    std::string const path = folder_ + "/pipe";
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
    PosixFile file(path, AccessMode::read, way(), bell_.ringer());
    Buffer memory(1000);
    ListTransfer read(Direction::read, {{0, memory.data(), 1000}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(read.bytes, 1000);
    EXPECT_EQ(memory, pattern(1000));
}

/// The kernel would cancel what a thread that is gone has submitted.
TEST_P(PosixFileTest, TheCallersThreadMayEnd) {
    PosixFile file(made(10), AccessMode::both, way(), bell_.ringer());
    auto memory = pattern(8 << 20);
    std::vector<std::unique_ptr<ListTransfer>> all;
    std::thread([&] {
        for (Offset i = 0; i < 8; ++i) {
            all.push_back(std::make_unique<ListTransfer>(
                Direction::write,
                std::vector<Segment>{{i << 20, memory.data() + (i << 20), 1 << 20}}));
            file.start(*all.back());
        }
    }).join();
    for (auto const& each : all) {
        bell_.wait_for(*each);
        EXPECT_EQ(each->status, Status::ok);
        EXPECT_EQ(each->bytes, 1 << 20);
    }
}

TEST_P(PosixFileTest, ExclusiveTransfers) {
    PosixFile file(made(10), AccessMode::both, way(), bell_.ringer());
    auto memory = pattern(5000);
    std::vector<std::unique_ptr<ListTransfer>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(std::make_unique<ListTransfer>(Direction::write, pieces_of(memory, 10, 1)));
        if (i % 2 == 0) all.back()->exclusive = {0, 10'000};
        file.start(*all.back());
    }
    for (auto const& each : all) {
        bell_.wait_for(*each);
        EXPECT_EQ(each->status, Status::ok);
    }
}

TEST(Uring, WaitsForItsTransfersBeforeItEnds) {
    if (!Uring::available()) GTEST_SKIP() << "no io_uring here";
    int const fd = memfd_create("sluice-test", MFD_CLOEXEC);
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
}  // namespace sluice
