// Exclusive transfers: two handles write all of a range, a third reads it and sees no mixture.
#include "storage/posix.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace sluice::exclusive_test {
namespace {

constexpr Bytes range_bytes = 64 * 1024;
constexpr Bytes piece_bytes = 512;  // Many system calls a transfer: the segments do not touch.

/// Every second piece of the range.
class Comb : public Transfer {
public:
    Comb(Direction way, std::vector<std::byte>& memory) : Transfer(way), memory_(memory) {
        exclusive = {0, range_bytes};
    }
    std::optional<Segment> next() override {
        if (at_ >= range_bytes) return std::nullopt;
        if (at_ == range_bytes / 2) usleep(200);  // Others get their chance in the middle.
        Offset const here = at_;
        at_ += 2 * piece_bytes;
        return Segment{here, memory_.data() + here, piece_bytes};
    }

private:
    std::vector<std::byte>& memory_;
    Offset at_ = 0;
};

/// Reads until the writers were seen to take turns many times. Returns the reads that saw more than
/// one value.
int mixtures_seen(PosixFile& file) {
    int mixtures = 0, turns = 0;
    std::byte last{0};
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (turns < 20 && std::chrono::steady_clock::now() < end) {
        std::vector<std::byte> memory(range_bytes);
        Comb read(Direction::read, memory);
        file.run(read);
        EXPECT_EQ(read.status(), Status::ok);
        for (Offset at = 0; at < range_bytes; at += 2 * piece_bytes) {
            if (memory[static_cast<std::size_t>(at)] == memory[0]) continue;
            ++mixtures;
            break;
        }
        if (std::exchange(last, memory[0]) != memory[0]) ++turns;
        usleep(1000);  // Locks are not fair: let the writers have their turns.
    }
    EXPECT_EQ(turns, 20);
    return mixtures;
}

struct Folder {
    Folder() {
        char name[] = "/tmp/sluice-exclusive-XXXXXX";
        path = mkdtemp(name);
        std::filesystem::path const file = path + "/file";
        std::vector<char> const zeros(range_bytes);
        int const fd = open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        EXPECT_EQ(write(fd, zeros.data(), zeros.size()), range_bytes);
        close(fd);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
};

TEST(Exclusive, ReadersNeverSeeAMixture) {
    Folder const folder;
    WorkerPool pool(0);
    auto const file = [&] {
        return std::make_unique<PosixFile>(folder.path + "/file", AccessMode::both, PosixWay{pool},
                                           [] {});
    };
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    for (int const value : {1, 2}) {
        writers.emplace_back([&, value] {
            auto const own = file();
            std::vector<std::byte> memory(range_bytes, std::byte(value));
            while (!stop) {
                Comb write(Direction::write, memory);
                own->run(write);
                EXPECT_EQ(write.status(), Status::ok);
                usleep(100);  // Locks are not fair: let the reader have a turn.
            }
        });
    }
    int const mixtures = mixtures_seen(*file());
    stop = true;
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(mixtures, 0);
}

TEST(Exclusive, TransfersOfOneHandleExcludeEachOtherToo) {
    Folder const folder;
    WorkerPool pool(0);
    PosixFile file(folder.path + "/file", AccessMode::both, PosixWay{pool}, [] {});
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (int value = 1; !stop; value = 3 - value) {
            std::vector<std::byte> memory(range_bytes, std::byte(value));
            Comb write(Direction::write, memory);
            file.run(write);
            usleep(100);
        }
    });
    int const mixtures = mixtures_seen(file);
    stop = true;
    writer.join();
    EXPECT_EQ(mixtures, 0);
}

/// The threads of the pool serve other files while transfers wait for locks that others hold.
TEST(Exclusive, WaitingForLocksHoldsUpNobodyElse) {
    Folder const locked, other;
    auto const name = locked.path + "/file";
    int const fd = open(name.c_str(), O_RDWR | O_CLOEXEC);
    struct flock all{};
    all.l_type = F_WRLCK;
    ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &all), 0);
    WorkerPool pool(1);
    PosixFile waiting(name, AccessMode::both, PosixWay{pool}, [] {});
    PosixFile file(other.path + "/file", AccessMode::both, PosixWay{pool}, [] {});
    std::vector<std::byte> memory(range_bytes, std::byte{7});
    Comb first(Direction::write, memory), second(Direction::write, memory);
    waiting.start(first);
    waiting.start(second);
    Comb free(Direction::write, memory);
    free.exclusive = {};
    file.start(free);
    auto const wait_for = [](Transfer const& transfer) {
        auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!transfer.done && std::chrono::steady_clock::now() < end) usleep(1000);
        return transfer.done.load();
    };
    EXPECT_TRUE(wait_for(free));
    EXPECT_FALSE(first.done || second.done);
    close(fd);
    EXPECT_TRUE(wait_for(first) && wait_for(second));
    EXPECT_EQ(first.status(), Status::ok);
    EXPECT_EQ(second.status(), Status::ok);
}

}  // namespace
}  // namespace sluice::exclusive_test
