// Storage over real system calls and over injected ones: short counts, interruptions, errors, ends
// of files; and the pool of threads.
#include "ports/posix.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Segments from a list.
class ListTransfer final : public Transfer {
public:
    ListTransfer(Direction way, std::vector<Segment> segments)
        : Transfer(way),
          segments_(std::move(segments)) {}
    std::optional<Segment> next() override {
        if (at_ == segments_.size()) return std::nullopt;
        return segments_[at_++];
    }

private:
    std::vector<Segment> segments_;
    std::size_t at_ = 0;
};

using Memory = std::vector<std::byte>;

Memory pattern(std::size_t bytes, int seed = 1) {
    Memory memory(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        memory[i] = static_cast<std::byte>(seed + static_cast<int>(i * 7 + (i >> 8)));
    }
    return memory;
}

// ---- Injected calls ----------------------------------------------------------------------------

/// A file in memory whose calls give short counts and fail on demand.
struct FakeFile {
    Memory bytes;
    std::size_t most = SIZE_MAX;  ///< Bytes of one call.
    int interruptions = 0;        ///< EINTR before each success.
    int fail_at = -1;             ///< Number of the call that fails.
    int error = 0;
    int calls = 0, interrupted = 0;

    long operator()(Direction way, iovec const* vectors, int count, Offset offset) {
        if (interrupted < interruptions) {
            ++interrupted;
            errno = EINTR;
            return -1;
        }
        interrupted = 0;
        if (calls++ == fail_at) {
            errno = error;
            return -1;
        }
        return transfer(way, vectors, count, static_cast<std::size_t>(offset));
    }

private:
    long transfer(Direction way, iovec const* vectors, int count, std::size_t at) {
        std::size_t done = 0;
        for (int i = 0; i < count; ++i) {
            for (std::size_t b = 0; b < vectors[i].iov_len; ++b, ++done) {
                if (done == most) return static_cast<long>(done);
                auto* const here = static_cast<std::byte*>(vectors[i].iov_base) + b;
                if (way == Direction::read && at + done >= bytes.size()) {
                    return static_cast<long>(done);
                }
                if (way == Direction::write && at + done >= bytes.size()) {
                    bytes.resize(at + done + 1);
                }
                (way == Direction::write ? bytes[at + done] : *here) =
                    way == Direction::write ? *here : bytes[at + done];
            }
        }
        return static_cast<long>(done);
    }
};

/// Pieces of `piece` bytes, apart in memory, that touch in the file in groups of `touching`.
std::vector<Segment> pieces_of(Memory& memory, Bytes piece, int touching) {
    std::vector<Segment> all;
    Offset at = 10;
    int in_group = 0;
    for (Bytes m = 0; m + piece <= static_cast<Bytes>(memory.size()); m += 2 * piece) {
        all.push_back({at, memory.data() + m, piece});
        at += piece;
        if (++in_group % touching == 0) at += 13;
    }
    return all;
}

Memory expected_file(std::vector<Segment> const& segments) {
    Memory file;
    for (Segment const& s : segments) {
        auto const at = static_cast<std::size_t>(s.file_offset);
        file.resize(std::max(file.size(), at + static_cast<std::size_t>(s.length)));
        std::memcpy(file.data() + at, s.memory, static_cast<std::size_t>(s.length));
    }
    return file;
}

Bytes total_of(std::vector<Segment> const& segments) {
    Bytes total = 0;
    for (Segment const& s : segments) total += s.length;
    return total;
}

TEST(TransferAll, ShortCountsAndInterruptionsAreGoneOnWith) {
    for (std::size_t const most : {std::size_t{1}, std::size_t{3}, std::size_t{64}, SIZE_MAX}) {
        for (int const touching : {1, 5, 200}) {
            auto memory = pattern(4000);
            auto const segments = pieces_of(memory, 6, touching);
            FakeFile file{.bytes = {}, .most = most, .interruptions = 2};
            ListTransfer write(Direction::write, segments);
            transfer_all(write, std::ref(file));
            EXPECT_EQ(write.status, Status::ok);
            EXPECT_EQ(write.bytes, total_of(segments));
            ASSERT_EQ(file.bytes, expected_file(segments)) << most << " " << touching;

            Memory back(memory.size());
            ListTransfer read(Direction::read, pieces_of(back, 6, touching));
            transfer_all(read, std::ref(file));
            EXPECT_EQ(read.status, Status::ok);
            EXPECT_EQ(read.bytes, total_of(segments));
            EXPECT_EQ(read.end_of_file, endless);
            EXPECT_EQ(expected_file(pieces_of(back, 6, touching)), file.bytes);
        }
    }
}

TEST(TransferAll, TheNthCallFails) {
    constexpr std::pair<int, Status> errors[] = {
        {EIO, Status::io},          {ENOSPC, Status::no_space}, {EDQUOT, Status::quota},
        {EROFS, Status::read_only}, {EACCES, Status::access},   {ENOMEM, Status::no_memory}};
    for (auto const& [error, status] : errors) {
        for (int n = 0; n < 12; ++n) {
            auto memory = pattern(600);
            FakeFile file{
                .bytes = {}, .most = 25, .interruptions = 1, .fail_at = n, .error = error};
            auto const segments = pieces_of(memory, 5, 10);
            ListTransfer write(Direction::write, segments);
            transfer_all(write, std::ref(file));
            EXPECT_EQ(write.status, status);
            EXPECT_EQ(write.bytes, 25 * n);
            EXPECT_EQ(file.calls, n + 1) << "nothing is tried after an error";
        }
    }
}

TEST(TransferAll, ReadingStopsAtTheEndOfTheFile) {
    for (std::size_t const most : {std::size_t{7}, SIZE_MAX}) {
        FakeFile file{.bytes = pattern(100), .most = most};
        Memory memory(400, std::byte{0xee});
        ListTransfer read(Direction::read, {{40, memory.data(), 30},
                                            {80, memory.data() + 100, 50},
                                            {200, memory.data() + 200, 10}});
        transfer_all(read, std::ref(file));
        EXPECT_EQ(read.status, Status::ok);
        EXPECT_EQ(read.bytes, 50);
        EXPECT_EQ(read.end_of_file, 100);
        EXPECT_EQ(memory[119], file.bytes[99]);
        for (std::size_t i = 120; i < 400; ++i) ASSERT_EQ(memory[i], std::byte{0xee}) << i;
    }
}

TEST(TransferAll, ADeviceThatTakesNothingIsAnError) {
    auto memory = pattern(50);
    ListTransfer write(Direction::write, {{0, memory.data(), 50}});
    transfer_all(write, [](Direction, iovec const*, int, Offset) { return 0L; });
    EXPECT_EQ(write.status, Status::io);
}

TEST(TransferAll, NothingMakesNoCall) {
    ListTransfer none(Direction::write, {});
    transfer_all(none, [](Direction, iovec const*, int, Offset) -> long { std::abort(); });
    EXPECT_EQ(none.status, Status::ok);
    EXPECT_EQ(none.bytes, 0);
}

// ---- Real files --------------------------------------------------------------------------------

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

class PosixFileTest : public ::testing::Test {
protected:
    PosixFileTest() {
        char name[] = "/tmp/sluice-posix-XXXXXX";
        folder_ = mkdtemp(name);
    }
    ~PosixFileTest() override { std::filesystem::remove_all(folder_); }

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

    std::string folder_;
    Bell bell_;  // Outlives the pool, whose threads ring it.
    WorkerPool pool_{2};
};

TEST_F(PosixFileTest, WritesAndReadsManySegments) {
    PosixFile file(made(10), AccessMode::both, pool_, bell_.ringer());
    for (int const touching : {1, 1000}) {  // More than one system call can take, and one by one.
        auto memory = pattern(40'000, touching);
        auto const segments = pieces_of(memory, 16, touching);
        ListTransfer write(Direction::write, segments);
        EXPECT_EQ(transfer(file, write), Status::ok);
        EXPECT_EQ(write.bytes, total_of(segments));
        Memory back(memory.size());
        ListTransfer read(Direction::read, pieces_of(back, 16, touching));
        EXPECT_EQ(transfer(file, read), Status::ok);
        EXPECT_EQ(expected_file(pieces_of(back, 16, touching)), expected_file(segments));
    }
    EXPECT_EQ(file.sync(), Status::ok);
}

TEST_F(PosixFileTest, TellsWhereTheFileEnds) {
    PosixFile file(made(1000), AccessMode::read, pool_, bell_.ringer());
    Memory memory(500, std::byte{0xee});
    ListTransfer read(Direction::read, {{900, memory.data(), 300}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(read.bytes, 100);
    EXPECT_EQ(read.end_of_file, 1000);
    EXPECT_EQ(memory[100], std::byte{0xee});
}

TEST_F(PosixFileTest, AMissingFile) {
    PosixFile file(folder_ + "/none", AccessMode::both, pool_, bell_.ringer());
    Memory memory(10);
    for (int attempt = 0; attempt < 2; ++attempt) {
        ListTransfer read(Direction::read, {{0, memory.data(), 10}});
        EXPECT_EQ(transfer(file, read), Status::no_such_file);
        EXPECT_EQ(read.bytes, 0);
    }
    EXPECT_EQ(file.sync(), Status::ok);
}

TEST_F(PosixFileTest, ForbiddenDirections) {
    auto const path = made(10);
    Memory memory(10);
    PosixFile reader(path, AccessMode::read, pool_, bell_.ringer());
    ListTransfer write(Direction::write, {{0, memory.data(), 10}});
    EXPECT_NE(transfer(reader, write), Status::ok);
    PosixFile writer(path, AccessMode::write, pool_, bell_.ringer());
    ListTransfer read(Direction::read, {{0, memory.data(), 10}});
    EXPECT_NE(transfer(writer, read), Status::ok);
}

TEST_F(PosixFileTest, NoPermission) {
    auto const path = made(10);
    chmod(path.c_str(), 0);
    if (access(path.c_str(), R_OK) == 0) GTEST_SKIP() << "the superuser may read everything";
    PosixFile file(path, AccessMode::read, pool_, bell_.ringer());
    Memory memory(10);
    ListTransfer read(Direction::read, {{0, memory.data(), 10}});
    EXPECT_EQ(transfer(file, read), Status::access);
}

TEST_F(PosixFileTest, AFullDevice) {
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    PosixFile file("/dev/full", AccessMode::write, pool_, bell_.ringer());
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
TEST_F(PosixFileTest, MoreThanTwoGibibytesAtOnce) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer would note every byte";
#endif
    constexpr Bytes length = (Bytes{1} << 31) + 8192;
    auto const path = made(10);
    ASSERT_EQ(truncate(path.c_str(), length + 100), 0);
    PosixFile file(path, AccessMode::both, pool_, bell_.ringer());
    std::byte last{0x77};
    ListTransfer mark(Direction::write, {{length - 1, &last, 1}});
    ASSERT_EQ(transfer(file, mark), Status::ok);
    AliasedMemory const memory(length);
    ListTransfer read(Direction::read, {{0, memory.data(), length}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(read.bytes, length);
    EXPECT_EQ(memory.data()[length - 1], last);
}

TEST_F(PosixFileTest, ManyTransfersAtOnce) {
    PosixFile file(made(10), AccessMode::both, pool_, bell_.ringer());
    auto memory = pattern(100 * 500);
    std::vector<std::unique_ptr<ListTransfer>> all;
    for (Offset i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<ListTransfer>(
            Direction::write, std::vector<Segment>{{i * 500, memory.data() + i * 500, 500}}));
        file.start(*all.back());
    }
    for (auto const& transfer : all) bell_.wait_for(*transfer);
    Memory back(memory.size());
    ListTransfer read(Direction::read, {{0, back.data(), static_cast<Bytes>(back.size())}});
    EXPECT_EQ(transfer(file, read), Status::ok);
    EXPECT_EQ(back, memory);
}

// ---- Threads -----------------------------------------------------------------------------------

TEST(WorkerPool, RunsEveryTaskBeforeItEnds) {
    std::atomic<int> done{0};
    {
        WorkerPool pool(3);
        for (int i = 0; i < 500; ++i) pool.submit([&done] { ++done; });
    }
    EXPECT_EQ(done, 500);
}

TEST(WorkerPool, ItsThreadsTakeNoSignals) {
    std::atomic<bool> blocked{false};
    {
        WorkerPool pool(1);
        pool.submit([&blocked] {
            sigset_t now;
            pthread_sigmask(SIG_SETMASK, nullptr, &now);
            blocked = sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGUSR1) == 1;
        });
    }
    EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace sluice
