// The shared file pointer of ranks, which are threads here: places that do not overlap, and files
// that use its memory one after another.
#include "common_doorbells.hpp"
#include "transport/shared_file_pointer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace sluice {
namespace {

struct alignas(64) Line {
    std::byte bytes[64]{};
};

struct PointerNode {
    explicit PointerNode(Rank count) : ranks(count), doorbells(static_cast<std::size_t>(count)) {
        memory.resize(SharedFilePointer::bytes_needed(ranks) / sizeof(Line));
    }
    [[nodiscard]] SharedFilePointer pointer(Rank self, Doorbells& to_ring) {
        return {reinterpret_cast<std::byte*>(memory.data()), self, ranks, to_ring};
    }
    Rank ranks;
    std::vector<EventCount> doorbells;
    std::vector<Line> memory;
};

constexpr auto anywhere = [](std::int64_t) { return true; };

struct Taken {
    std::int64_t begin, end;
};

/// As each file does: all meet, it begins at zero, and nobody waits for the others to begin.
std::vector<Taken> use(PointerNode& node, Rank self, int files, int calls) {
    CommonDoorbells doorbells(node.doorbells.data());
    SharedFilePointer pointer = node.pointer(self, doorbells);
    std::vector<Taken> taken;
    for (int file = 0; file < files; ++file) {
        pointer.meeting.begin({});
        while (!pointer.meeting.finished()) std::this_thread::yield();
        pointer.restart();
        for (int i = 0; i < calls; ++i) {
            std::int64_t const count = 1 + (i + self) % 5;
            std::int64_t const at = pointer.advance(count, anywhere).value_or(-1);
            taken.push_back({at + file * 1'000'000, at + file * 1'000'000 + count});
        }
    }
    return taken;
}

TEST(SharedFilePointer, NoTwoCallsGetACommonPlaceAndThereAreNoGaps) {
    constexpr Rank ranks = 4;
    constexpr int files = 20, calls = 20000;  // So many that threads meet in one call.
    PointerNode node(ranks);
    std::vector<std::vector<Taken>> of_ranks(ranks);
    std::vector<std::thread> threads;
    for (Rank self = 0; self < ranks; ++self)
        threads.emplace_back([&, self] {
            of_ranks[static_cast<std::size_t>(self)] = use(node, self, files, calls);
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<Taken> all;
    for (auto const& one : of_ranks) all.insert(all.end(), one.begin(), one.end());
    std::ranges::sort(all, {}, &Taken::begin);
    std::int64_t reached = 0;
    for (Taken const& one : all) {
        if (one.begin % 1'000'000 == 0) reached = one.begin;
        ASSERT_EQ(one.begin, reached);
        reached = one.end;
    }
    EXPECT_EQ(all.size(), std::size_t{ranks} * files * calls);
}

TEST(SharedFilePointer, StaysWhereACallDoesNotFit) {
    PointerNode node(1);
    CommonDoorbells doorbells(node.doorbells.data());
    SharedFilePointer pointer = node.pointer(0, doorbells);
    pointer.set(90);
    auto const below = [](std::int64_t at) { return at < 100; };
    EXPECT_EQ(pointer.advance(20, below), 90);
    EXPECT_EQ(pointer.advance(20, below), std::nullopt);
    EXPECT_EQ(pointer.position(), 110);
    pointer.restart();
    EXPECT_EQ(pointer.position(), 0);
}

}  // namespace
}  // namespace sluice
