// Transfers by injected system calls: short counts, interruptions, errors, ends of files; and the
// pool of threads.
#include "list_transfer.hpp"
#include "storage/posix.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace sluice::posix_test {
namespace {

// ---- Injected calls ----------------------------------------------------------------------------

/// A file in memory whose calls give short counts and fail on demand.
struct FakeFile {
    Buffer bytes;
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

TEST(TransferAll, ShortCountsAndInterruptionsAreGoneOnWith) {
    for (std::size_t const most : {std::size_t{1}, std::size_t{3}, std::size_t{64}, SIZE_MAX}) {
        for (int const touching : {1, 5, 200}) {
            auto memory = pattern(4000);
            auto const segments = pieces_of(memory, 6, touching);
            FakeFile file{.bytes = {}, .most = most, .interruptions = 2};
            ListTransfer write(Direction::write, segments);
            transfer_all(write, std::ref(file));
            EXPECT_EQ(write.status(), Status::ok);
            EXPECT_EQ(write.bytes, total_of(segments));
            ASSERT_EQ(file.bytes, expected_file(segments)) << most << " " << touching;

            Buffer back(memory.size());
            ListTransfer read(Direction::read, pieces_of(back, 6, touching));
            transfer_all(read, std::ref(file));
            EXPECT_EQ(read.status(), Status::ok);
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
            EXPECT_EQ(write.status(), status);
            EXPECT_EQ(write.bytes, 25 * n);
            EXPECT_EQ(write.error.code, error);
            EXPECT_EQ(write.error.offset, 10 + 25 * n + 13 * (n / 2));
            EXPECT_EQ(write.error.bytes, n % 2 == 0 ? 50 : 25);
            EXPECT_EQ(file.calls, n + 1) << "nothing is tried after an error";
        }
    }
}

TEST(TransferAll, ReadingStopsAtTheEndOfTheFile) {
    for (std::size_t const most : {std::size_t{7}, SIZE_MAX}) {
        FakeFile file{.bytes = pattern(100), .most = most};
        Buffer memory(400, std::byte{0xee});
        ListTransfer read(Direction::read, {{40, memory.data(), 30},
                                            {80, memory.data() + 100, 50},
                                            {200, memory.data() + 200, 10}});
        transfer_all(read, std::ref(file));
        EXPECT_EQ(read.status(), Status::ok);
        EXPECT_EQ(read.bytes, 50);
        EXPECT_EQ(read.end_of_file, 100);
        EXPECT_EQ(memory[119], file.bytes[99]);
        for (std::size_t i = 120; i < 400; ++i) ASSERT_EQ(memory[i], std::byte{0xee}) << i;
    }
}

/// For good, it is an error; for a while, it is gone on with.
TEST(TransferAll, CallsThatMoveNothingAreMadeAgain) {
    auto memory = pattern(50);
    for (int const error : {0, EAGAIN}) {
        int left = 0, calls = 0;
        auto const call = [&](Direction, iovec const*, int, Offset) -> long {
            ++calls;
            if (left-- <= 0) return 10;
            errno = error;
            return error == 0 ? 0 : -1;
        };
        for (int const times : {1, 5, 1'000'000'000}) {
            left = times;
            calls = 0;
            ListTransfer write(Direction::write, {{0, memory.data(), 50}});
            transfer_all(write, call);
            bool const ends = times > 5;
            EXPECT_EQ(write.status(), ends ? Status::io : Status::ok) << error;
            EXPECT_EQ(write.bytes, ends ? 0 : 50);
            EXPECT_LT(calls, 1000);
        }
    }
}

TEST(TransferAll, NothingMakesNoCall) {
    ListTransfer none(Direction::write, {});
    transfer_all(none, [](Direction, iovec const*, int, Offset) -> long { std::abort(); });
    EXPECT_EQ(none.status(), Status::ok);
    EXPECT_EQ(none.bytes, 0);
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
}  // namespace sluice::posix_test
