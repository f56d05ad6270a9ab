// Short pieces that are written into a mapping of the file: the same bytes are in the file as by
// requests, those between the pieces stay, and nobody who changes the file meanwhile ends the
// process.
#include "drawn.hpp"
#include "posix_files.hpp"
#include "system/page_bytes.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace sluice::mapped_pieces_test {
namespace {

using Pieces = std::vector<Segment>;

/// So many pieces, one behind the other with gaps.
Pieces pieces_every(Bytes step, Bytes length, std::int64_t count, Buffer& memory,
                    Offset begin = 0) {
    memory = pattern(static_cast<std::size_t>(length * count), 77);
    Pieces all;
    for (std::int64_t i = 0; i < count; ++i)
        all.push_back({begin + i * step, memory.data() + i * length, length});
    return all;
}

/// Short and long ones, with gaps and without, not all of them ascending.
Pieces drawn_pieces(std::mt19937& random, Buffer& memory) {
    auto const below = [&](Bytes n) {
        return static_cast<Bytes>(random() % static_cast<unsigned>(n));
    };
    memory = pattern(1 << 20, static_cast<int>(random() % 200));
    Pieces all;
    Offset at = below(100'000);
    Bytes used = 0;
    while (used < (1 << 19)) {
        bool const is_long = below(400) == 0, touches = below(5) == 0;
        Bytes const length = 1 + below(is_long ? 9000 : 100);
        if (!touches) at += 1 + below(below(300) == 0 ? 100'000 : 90);
        if (below(3000) == 0) at += 1 << 20;
        all.push_back({at, memory.data() + used, length});
        at += length, used += length;
    }
    if (below(2) == 0) std::swap(all.front(), all.back());
    return all;
}

class MappedPiecesTest : public ::testing::Test {
protected:
    std::string made(std::size_t bytes) {
        return conformance::make_file(folder_.path() + "/file", pattern(bytes));
    }
    std::unique_ptr<PosixFile> opened(std::string const& path, AccessMode mode = AccessMode::both) {
        auto file = std::make_unique<PosixFile>(path, mode, parts_.way(), doorbell_.ringer());
        file->allow_mapping();
        return file;
    }
    Transfer const& write(PosixFile& file, Pieces const& pieces) {
        last_ = std::make_unique<ListTransfer>(Direction::write, pieces);
        file.start(*last_);
        doorbell_.wait_for(*last_);
        return *last_;
    }

    TestFolder folder_;
    conformance::Doorbell doorbell_;
    FileParts parts_{PageCache::keep};
    std::unique_ptr<ListTransfer> last_;
};

TEST_F(MappedPiecesTest, PaysForManyThatAreShort) {
    Buffer memory;
    EXPECT_TRUE(mapping_pays(pieces_every(16, 8, 1000, memory)));
    EXPECT_TRUE(mapping_pays(pieces_every(512, 8, 64, memory)));
    EXPECT_FALSE(mapping_pays(pieces_every(530, 8, 64, memory))) << "too far apart";
    EXPECT_FALSE(mapping_pays(pieces_every(16, 8, 63, memory))) << "too few";
    EXPECT_FALSE(mapping_pays(pieces_every(8, 8, 1000, memory))) << "they touch: one request";
}

/// Whatever is taken for a mapping, all segments come once and in their order.
TEST_F(MappedPiecesTest, NoSegmentIsLostBetweenTheWays) {
    std::mt19937 random(testing::run_seed());
    for (int i = 0; i < 40; ++i) {
        Buffer memory;
        auto const pieces = drawn_pieces(random, memory);
        ListTransfer transfer(Direction::write, pieces);
        Segments segments(transfer);
        Buffer seen;
        Bytes mapped = 0;
        auto const add = [&](std::byte const* from, std::size_t bytes) {
            seen.insert(seen.end(), from, from + bytes);
        };
        Batch batch;
        for (;;) {
            auto const some = segments.mappable();
            Segment const* before = nullptr;
            for (Segment const& one : some) {
                if (before) {
                    EXPECT_GE(one.file_offset, before->file_offset + before->length);
                }
                before = &one;
            }
            if (!some.empty() && random() % 3 != 0) {  // Else as where the system refuses.
                EXPECT_EQ(some.front().file_offset / mapped_window_bytes,
                          (some.back().file_offset + some.back().length - 1) / mapped_window_bytes);
                for (Segment const& one : some)
                    add(one.memory, static_cast<std::size_t>(one.length)), mapped += one.length;
                segments.drop_mappable();
                continue;
            }
            if (!segments.fill(batch)) break;
            for (int v = 0; v < batch.count(); ++v)
                add(static_cast<std::byte const*>(batch.vectors()[v].iov_base),
                    batch.vectors()[v].iov_len);
        }
        Buffer expected;
        for (Segment const& one : pieces)
            expected.insert(expected.end(), one.memory, one.memory + one.length);
        ASSERT_EQ(seen, expected);
        EXPECT_GT(mapped, 0);
    }
}

TEST_F(MappedPiecesTest, TheFileIsAsByRequests) {
    std::mt19937 random(testing::run_seed());
    for (auto const mode : {AccessMode::both, AccessMode::write}) {
        for (int i = 0; i < 10; ++i) {
            auto const path = made(random() % 300'000);
            auto expected = conformance::content_of(path);
            auto const file = opened(path, mode);
            Buffer memory;
            auto const pieces = drawn_pieces(random, memory);
            auto const& done = write(*file, pieces);
            EXPECT_EQ(done.status(), Status::ok) << done.error.code;
            EXPECT_EQ(done.bytes, total_of(pieces));
            put(expected, pieces);
            EXPECT_TRUE(conformance::content_of(path) == expected);
        }
    }
}

/// What stays with requests on this file system is not tested here.
TEST_F(MappedPiecesTest, WritesWithoutRequestsAndEndsWhereThePiecesDo) {
    auto const path = made(10);
    if (!takes_stores(open_file(path, AccessMode::both).descriptor.get()))
        GTEST_SKIP() << "not on this file system";
    for (auto const mode : {AccessMode::both, AccessMode::write}) {
        auto const file = open_file(path, mode).descriptor;
        Buffer memory;
        auto const pieces = pieces_every(100, 30, 500, memory, 5000);
        MappedPieces mapped(file.get());
        ASSERT_TRUE(mapped.is_possible());
        ASSERT_TRUE(mapped.write(pieces));
        Buffer expected = pattern(10);
        put(expected, pieces);
        EXPECT_TRUE(conformance::content_of(path) == expected);
    }
    auto const durable = open_file(path, AccessMode::both, true).descriptor;
    EXPECT_FALSE(MappedPieces(durable.get()).is_possible());
    Descriptor const written(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_FALSE(MappedPieces(written.get()).is_possible());
}

/// Pages that no piece touches would be read, and get storage.
TEST_F(MappedPiecesTest, EndAtAGapOfAPage) {
    Buffer memory, more;
    auto pieces = pieces_every(16, 8, 100, memory);
    auto const far = pieces_every(16, 8, 100, more, 1600 + page_bytes() + 8);
    pieces.insert(pieces.end(), far.begin(), far.end());
    ListTransfer transfer(Direction::write, pieces);
    Segments segments(transfer);
    EXPECT_EQ(segments.mappable().size(), 100);
    segments.drop_mappable();
    EXPECT_EQ(segments.mappable().size(), 100);
}

/// Those that touch are found to do so soon, and go in requests.
TEST_F(MappedPiecesTest, LooksNotFarAheadWherePiecesTouch) {
    Buffer memory;
    auto const pieces = pieces_every(8, 8, 10'000, memory);
    ListTransfer transfer(Direction::write, pieces);
    Segments segments(transfer);
    EXPECT_TRUE(segments.mappable().empty());
    for (int i = 64; i < 10'000; ++i) ASSERT_TRUE(transfer.next());
    EXPECT_FALSE(transfer.next());
}

/// As by requests: the program may have given any address.
TEST_F(MappedPiecesTest, MemoryThatCannotBeReadIsAnErrorAndNoSignal) {
    auto const path = made(10);
    auto const file = opened(path);
    auto const bytes = static_cast<std::size_t>(2 * page_bytes());
    auto* const memory = static_cast<std::byte*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + page_bytes(), static_cast<std::size_t>(page_bytes()), PROT_NONE);
    Pieces pieces;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes) / 8; ++i)
        pieces.push_back({16 * i, memory + 8 * i, 8});
    auto const& done = write(*file, pieces);
    munmap(memory, bytes);
    EXPECT_NE(done.status(), Status::ok);
    EXPECT_EQ(done.error.code, EFAULT);
    EXPECT_EQ(done.bytes, page_bytes());
}

/// Any close of a file would end them.
TEST_F(MappedPiecesTest, LocksOfTheProgramStay) {
    for (auto const mode : {AccessMode::both, AccessMode::write}) {
        auto const path = made(10);
        auto const file = opened(path, mode);
        Descriptor const own(open(path.c_str(), O_RDWR | O_CLOEXEC));
        struct flock lock{};
        lock.l_type = F_WRLCK;
        ASSERT_EQ(fcntl(own.get(), F_SETLK, &lock), 0);
        Buffer memory;
        EXPECT_EQ(write(*file, pieces_every(100, 30, 500, memory)).status(), Status::ok);
        pid_t const child = fork();
        if (child == 0) _exit(fcntl(own.get(), F_SETLK, &lock) == 0 ? 1 : 0);
        int ended = -1;
        waitpid(child, &ended, 0);
        EXPECT_EQ(ended, 0) << "another process gets the lock";
    }
}

TEST_F(MappedPiecesTest, TheFilesTimeTellsOfThem) {
    auto const path = made(100'000);
    timespec const past[2] = {{1000, 0}, {1000, 0}};
    utimensat(AT_FDCWD, path.c_str(), past, 0);
    auto const file = opened(path);
    Buffer memory;
    write(*file, pieces_every(100, 30, 500, memory));
    struct stat about{};
    stat(path.c_str(), &about);
    EXPECT_GT(about.st_mtim.tv_sec, 1000);
}

TEST_F(MappedPiecesTest, BytesThatAnotherWritesBetweenThemStay) {
    auto const path = made(200'000);
    std::string const mine(30, 'm');
    std::thread other([&] {
        auto const file = open_file(path, AccessMode::write).descriptor;
        for (int round = 0; round < 20; ++round)
            for (Offset at = 50; at < 200'000; at += 100)
                if (pwrite(file.get(), mine.data(), mine.size(), at) != 30) return;
    });
    auto const file = opened(path);
    Buffer memory;
    auto const pieces = pieces_every(100, 30, 2000, memory);
    for (int round = 0; round < 100; ++round) EXPECT_EQ(write(*file, pieces).status(), Status::ok);
    other.join();
    Buffer expected = pattern(200'000);
    put(expected, pieces);
    for (std::size_t at = 50; at < expected.size(); at += 100)
        std::memcpy(&expected[at], mine.data(), mine.size());
    EXPECT_TRUE(conformance::content_of(path) == expected);
}

/// A store of the process's own to a page that is gone would end it by a signal.
TEST_F(MappedPiecesTest, AFileThatSomebodyCutsIsNoSignal) {
    auto const path = made(200'000);
    std::atomic<bool> ended{false};
    std::thread other([&] {
        while (!ended)
            if (truncate(path.c_str(), 0) != 0) break;
    });
    auto const file = opened(path);
    Buffer memory;
    auto const pieces = pieces_every(100, 30, 20'000, memory);
    for (int round = 0; round < 200; ++round) {
        auto const& done = write(*file, pieces);
        EXPECT_EQ(done.status(), Status::ok) << done.error.code;
        EXPECT_EQ(done.bytes, total_of(pieces));
    }
    ended = true;
    other.join();
}

/// The storage of a window is reserved first. Where that fails requests go as far as they come.
TEST_F(MappedPiecesTest, ALimitOfTheFilesSizeIsAnError) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const limit{.rlim_cur = 1'000'000, .rlim_max = before.rlim_max};
    auto* const earlier = signal(SIGXFSZ, SIG_IGN);
    auto const path = made(10);
    auto const file = opened(path);
    Buffer memory;
    auto const pieces = pieces_every(100, 30, 20'000, memory);
    setrlimit(RLIMIT_FSIZE, &limit);
    auto const& done = write(*file, pieces);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, earlier);
    EXPECT_EQ(done.status(), Status::no_space);
    EXPECT_EQ(done.bytes, 10'000 * 30);
    EXPECT_EQ(std::filesystem::file_size(path), 999'930);
}

}  // namespace
}  // namespace sluice::mapped_pieces_test
