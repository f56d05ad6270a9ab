// Operation queues over blocks of memory, against lists of single bytes.
#include "collective/blocks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <numeric>

namespace sluice::blocks_test {
namespace {

std::vector<std::byte> numbered(std::size_t count) {
    std::vector<std::byte> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::byte>(i * 131 + i / 256);
    return all;
}

/// Memory, and a stream over some of it with the place of each of its bytes.
struct Drawn {
    std::vector<std::byte> memory;
    Blocks blocks;
    std::vector<std::size_t> places;
};

/// The pieces of a tile, each byte of which lies in [0, 64); holes and falling offsets, maybe.
std::vector<Run> draw_tile() {
    std::vector<Run> runs;
    for (Offset at = 0; at < 60;) {
        auto const length = *rc::gen::inRange<Bytes>(1, 5);
        if (at + length > 64) break;
        runs.push_back({at, length, 0, 1});
        at += length + *rc::gen::inRange<Offset>(0, 6);
    }
    if (*rc::gen::arbitrary<bool>()) std::reverse(runs.begin(), runs.end());
    return runs;
}

/// Adds `bytes` bytes of tiles that begin at `base` and go up, or down.
void add_tiles(Drawn& to, std::size_t base, std::vector<Run> const& tile, Offset extent,
               Bytes bytes) {
    to.blocks.add(to.memory.data() + base, bytes, std::make_shared<Layout const>(tile, extent));
    for (std::int64_t t = 0; bytes > 0; ++t) {
        for (Run const& run : tile) {
            for (Bytes b = 0; b < run.length && bytes > 0; ++b, --bytes) {
                to.places.push_back(base + static_cast<std::size_t>(t * extent + run.offset + b));
            }
        }
    }
}

Drawn draw() {
    Drawn drawn;
    drawn.memory = numbered(8000);
    auto const count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
        auto const base = static_cast<std::size_t>(i) * 1000;
        if (*rc::gen::arbitrary<bool>()) {
            auto const bytes = *rc::gen::inRange<Bytes>(0, 300);
            drawn.blocks.add(drawn.memory.data() + base, bytes);
            for (Bytes b = 0; b < bytes; ++b) {
                drawn.places.push_back(base + static_cast<std::size_t>(b));
            }
        } else {
            auto const tile = draw_tile();
            auto const bytes = *rc::gen::inRange<Bytes>(0, 120);
            bool const falling = *rc::gen::arbitrary<bool>();  // From its end down.
            Offset const extent = falling ? -64 : 64 + *rc::gen::inRange<Offset>(0, 3);
            auto const single = static_cast<Bytes>(tile.size());
            add_tiles(drawn, base + (falling ? 900 : 0), tile, extent,
                      std::min(bytes, 13 * single));
        }
    }
    return drawn;
}

RC_GTEST_PROP(Blocks, MoveTheBytesThatTheyName, ()) {
    Drawn drawn = draw();
    auto const total = std::ssize(drawn.places);
    RC_ASSERT(drawn.blocks.bytes() == total);
    auto const at = *rc::gen::inRange<Bytes>(0, total + 1);
    auto const bytes = *rc::gen::inRange<Bytes>(0, total - at + 1);

    std::vector<std::byte> packed(static_cast<std::size_t>(bytes)), expected;
    for (Bytes i = at; i < at + bytes; ++i) {
        expected.push_back(drawn.memory[drawn.places[static_cast<std::size_t>(i)]]);
    }
    drawn.blocks.pack(at, packed);
    RC_ASSERT(packed == expected);

    auto after = drawn.memory;
    for (std::size_t i = 0; i < packed.size(); ++i) {
        packed[i] = ~packed[i];
        after[drawn.places[static_cast<std::size_t>(at) + i]] = packed[i];
    }
    drawn.blocks.unpack(at, packed);
    RC_ASSERT(drawn.memory == after);
}

void copy(std::vector<Rows> const& all) {
    for (Rows const& rows : all) {
        for (std::int64_t i = 0; i < rows.count; ++i) {
            Rows const piece = rows.piece(i);
            std::memcpy(reinterpret_cast<void*>(piece.target),
                        reinterpret_cast<void const*>(piece.source),
                        static_cast<std::size_t>(piece.length));
        }
    }
}

RC_GTEST_PROP(Blocks, RowsMoveTheWholeStreamBothWays, ()) {
    Drawn drawn = draw();
    auto const total = static_cast<std::size_t>(drawn.blocks.bytes());
    std::vector<std::byte> packed(total), expected(total);
    drawn.blocks.pack(0, expected);
    copy(drawn.blocks.rows(Direction::write, packed.data()));
    RC_ASSERT(packed == expected);

    auto after = drawn.memory;
    for (std::size_t i = 0; i < total; ++i) {
        packed[i] = ~packed[i];
        after[drawn.places[i]] = packed[i];
    }
    copy(drawn.blocks.rows(Direction::read, packed.data()));
    RC_ASSERT(drawn.memory == after);
}

RC_GTEST_PROP(Blocks, ContiguousIsWhereBytesFollowEachOther, ()) {
    Drawn drawn = draw();
    auto const total = std::ssize(drawn.places);
    RC_PRE(total > 0);
    auto const at = *rc::gen::inRange<Bytes>(0, total);
    auto const bytes = *rc::gen::inRange<Bytes>(1, std::min<Bytes>(total - at, 9) + 1);
    std::byte const* const together = drawn.blocks.contiguous(at, bytes);
    auto const first = drawn.places.begin() + at;
    if (together == nullptr) {
        RC_ASSERT(bytes > 1);
    } else {
        RC_ASSERT(together == drawn.memory.data() + *first);
        for (Bytes i = 0; i < bytes; ++i) {
            RC_ASSERT(first[i] == *first + static_cast<std::size_t>(i));
        }
    }
}

TEST(Blocks, NeighboursBecomeOne) {
    auto memory = numbered(400);
    Blocks blocks;
    blocks.add(memory.data(), 10);
    blocks.add(memory.data() + 10, 5);
    blocks.add(memory.data() + 99, 0);
    blocks.add(memory.data() + 15, 5, Layout::contiguous());
    EXPECT_EQ(blocks.contiguous(3, 17), memory.data() + 3);
    blocks.add(memory.data() + 21, 5);
    EXPECT_EQ(blocks.contiguous(3, 18), nullptr);
    EXPECT_EQ(blocks.contiguous(20, 5), memory.data() + 21);
    EXPECT_EQ(blocks.bytes(), 25);
    blocks.clear();
    EXPECT_EQ(blocks.bytes(), 0);
    blocks.add(memory.data() + 7, 2);
    EXPECT_EQ(blocks.contiguous(0, 2), memory.data() + 7);
}

TEST(Blocks, NeighboursOfOneLayoutBecomeOne) {
    auto memory = numbered(400);
    auto const every_second =
        std::make_shared<Layout const>(std::vector<sluice::Run>{{0, 4, 0, 1}}, 8);
    Blocks blocks;
    for (std::size_t i = 0; i < 5; ++i) blocks.add(memory.data() + 16 * i, 8, every_second);
    std::vector<std::byte> packed(30), expected;
    blocks.pack(10, packed);
    for (std::size_t i = 10; i < 40; ++i) expected.push_back(memory[i / 4 * 8 + i % 4]);
    EXPECT_EQ(packed, expected);
    EXPECT_EQ(blocks.contiguous(12, 4), memory.data() + 24);
    EXPECT_EQ(blocks.contiguous(12, 5), nullptr);
}

}  // namespace
}  // namespace sluice::blocks_test
