// Cells and pools of one queue against a plain queue, past the end of its counters, and how large
// queues are.
#include "drawn.hpp"
#include "transport/node_network.hpp"
#include "transport/node_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <random>

namespace sluice::node_queue_test {
namespace {

struct Queue {
    explicit Queue(Rank ranks)
        : shape(QueueShape::of(ranks)),
          memory(SharedMemory::create_private(shape.bytes())),
          out(memory->data(), shape),
          in(memory->data(), shape) {}

    QueueShape shape;
    std::optional<SharedMemory> memory;
    OutQueue out;
    InQueue in;
};

std::vector<std::byte> body_for(std::uint64_t number, std::size_t bytes) {
    std::vector<std::byte> body(bytes);
    for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<std::byte>(number * 31 + i);
    return body;
}

struct Posted {
    Note note;
    std::vector<std::byte> body;
};

std::string fault_of(Queue const& queue, Cell const& cell, Posted const& expected) {
    Note const note = queue.in.note_in(cell);
    if (note.kind != expected.note.kind || note.tag != expected.note.tag) return "another note";
    if (note.context != expected.note.context) return "another context";
    bool const has_words = note.kind != CellKind::whole;
    if (has_words && note.number != expected.note.number) return "another number";
    return std::ranges::equal(queue.in.body_of(cell), expected.body) ? "" : "other bytes";
}

TEST(NodeQueue, is_a_queue) {
    for (Rank const ranks : {2, 30, 64, 100}) {
        Queue queue(ranks);
        std::mt19937_64 random(testing::run_seed() + static_cast<std::uint64_t>(ranks));
        std::deque<Posted> under_way;
        int refused = 0;
        for (std::uint64_t step = 0; step < 8'000; ++step) {
            bool const few = step / 1000 % 2 == 0;  // In turn mostly full and mostly empty.
            if (random() % 4 < (few ? 1U : 3U)) {
                std::size_t const bytes =
                    random() % (random() % 2 ? 80 : queue.shape.body_max() + 1);
                auto const kind = random() % 3 ? CellKind::whole : CellKind::fragment;
                Posted posted{{kind, -static_cast<int>(step), step << 40, step, 0, 0},
                              body_for(step, bytes)};
                bool const taken = queue.out.post(posted.note, posted.body);
                if (taken) under_way.push_back(std::move(posted));
                refused += !taken;
                continue;
            }
            Cell const* const cell = queue.in.next();
            ASSERT_EQ(cell != nullptr, !under_way.empty());
            if (!cell) continue;
            ASSERT_EQ(fault_of(queue, *cell, under_way.front()), "") << "step " << step;
            queue.in.take(*cell);
            under_way.pop_front();
        }
        EXPECT_GT(refused, 0);
    }
}

/// Whatever was taken before, the largest body finds room in a queue that is empty.
TEST(NodeQueue, has_room_once_all_is_taken) {
    for (Rank const ranks : {2, 64}) {
        Queue queue(ranks);
        std::mt19937_64 random(testing::run_seed());
        for (int step = 0; step < 2000; ++step) {
            std::size_t const bytes =
                random() % 3 ? random() % queue.shape.body_max() : queue.shape.body_max();
            ASSERT_TRUE(queue.out.post({}, body_for(1, bytes))) << "step " << step;
            queue.in.take(*queue.in.next());
        }
    }
}

/// Bytes in the pool are counted in 32 bits.
TEST(NodeQueue, goes_on_after_four_gibibytes) {
    Queue queue(2);
    auto body = body_for(1, queue.shape.body_max() - 64);
    std::uint64_t const posts = (std::uint64_t{9} << 29) / body.size();
    for (std::uint64_t post = 0; post < posts; ++post) {
        body.front() = body.back() = static_cast<std::byte>(post);
        ASSERT_TRUE(queue.out.post({}, body));
        Cell const* const cell = queue.in.next();
        ASSERT_TRUE(cell);
        auto const found = queue.in.body_of(*cell);
        ASSERT_EQ(found.size(), body.size());
        ASSERT_TRUE(found.front() == body.front() && found.back() == body.back());
        queue.in.take(*cell);
    }
}

TEST(NodeQueue, shares_what_a_node_may_take) {
    for (Rank ranks = 1; ranks <= 256; ++ranks) {
        QueueShape const shape = QueueShape::of(ranks);
        EXPECT_TRUE(std::has_single_bit(shape.pool) && std::has_single_bit(shape.cells));
        EXPECT_EQ(shape.bytes() % (2 * cache_line), 0U);
        if (ranks <= 103) {
            EXPECT_LE(NodeNetwork::bytes_needed(ranks), std::size_t{64} << 20);
        }
        EXPECT_LE(shape.pool, QueueShape::of(std::max(1, ranks - 1)).pool);
    }
    EXPECT_EQ(QueueShape::of(2).body_max(), 32U * 1024);
}

}  // namespace
}  // namespace sluice::node_queue_test
