// How cells and the pool are filled and emptied. See node_queue.hpp.
#include "transport/node_queue.hpp"

#include "base/round_up.hpp"

#include <cstring>

namespace sluice {
namespace {

/// Of all queues of a node, while a queue keeps its least size.
constexpr std::size_t bytes_max = std::size_t{64} << 20;
constexpr std::uint32_t pool_max = 128 * 1024, pool_min = 4 * 1024, cells_min = 32;
constexpr std::uint32_t pool_for_a_cell = 512;

constexpr std::uint32_t in_lines(std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>(round_up(bytes, cache_line));
}

bool fits_into_cell(Note const& note, std::size_t bytes) noexcept {
    return note.kind == CellKind::whole && bytes <= sizeof(Cell::words);
}

void copy(void* to, void const* from, std::size_t bytes) noexcept {
    if (bytes) std::memcpy(to, from, bytes);
}

Credits* credits_in(std::byte* memory) noexcept { return reinterpret_cast<Credits*>(memory); }
Cell* cells_in(std::byte* memory) noexcept {
    return reinterpret_cast<Cell*>(memory + sizeof(Credits));
}
std::byte* pool_in(std::byte* memory, QueueShape shape) noexcept {
    return memory + sizeof(Credits) + shape.cells * sizeof(Cell);
}

}  // namespace

QueueShape QueueShape::of(Rank ranks) noexcept {
    std::size_t const queues = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    QueueShape shape;
    for (shape.pool = pool_max;; shape.pool /= 2) {
        shape.cells = std::max(cells_min, shape.pool / pool_for_a_cell);
        if (shape.pool == pool_min || queues * shape.bytes() <= bytes_max) return shape;
    }
}

std::size_t QueueShape::bytes() const noexcept {
    return sizeof(Credits) + cells * sizeof(Cell) + pool;
}

OutQueue::OutQueue(std::byte* memory, QueueShape shape) noexcept
    : credits_(credits_in(memory)),
      cells_(cells_in(memory)),
      pool_(pool_in(memory, shape)),
      shape_(shape) {}

bool OutQueue::has_room(std::uint32_t pooled) noexcept {
    auto const enough = [&] {
        return filled_ - taken_ < shape_.cells && pool_end_ + pooled - pool_taken_ <= shape_.pool;
    };
    if (enough()) return true;
    taken_ = credits_->cells.load(std::memory_order_acquire);
    pool_taken_ = credits_->pool.load(std::memory_order_acquire);
    return enough();
}

bool OutQueue::post(Note const& note, std::span<std::byte const> body) noexcept {
    bool const inside = fits_into_cell(note, body.size());
    std::uint32_t const lines = inside ? 0 : in_lines(body.size());
    std::uint32_t at = pool_end_ & (shape_.pool - 1);
    // What does not fit in front of the end of the pool leaves the rest of it empty.
    std::uint32_t const skipped = at + lines > shape_.pool ? shape_.pool - at : 0;
    if (!has_room(skipped + lines)) return false;
    if (skipped) at = 0;
    Cell& cell = cells_[filled_ & (shape_.cells - 1)];
    cell.context = note.context;
    cell.tag = note.tag;
    cell.kind = static_cast<std::uint32_t>(note.kind) & 15U;
    cell.bytes = static_cast<std::uint32_t>(body.size()) & ((1U << 28) - 1);
    if (inside) {
        copy(cell.words.data(), body.data(), body.size());
    } else {
        cell.words = {note.number, note.bytes, note.address, 0, 0};
        copy(pool_ + at, body.data(), body.size());
        pool_end_ += skipped + lines;
    }
    cell.pool_end = pool_end_;
    cell.filled.store(++filled_, std::memory_order_release);
    return true;
}

InQueue::InQueue(std::byte* memory, QueueShape shape) noexcept
    : credits_(credits_in(memory)),
      cells_(cells_in(memory)),
      pool_(pool_in(memory, shape)),
      shape_(shape) {}

Note InQueue::note_in(Cell const& cell) const noexcept {
    Note note;
    note.kind = static_cast<CellKind>(cell.kind);
    note.tag = cell.tag;
    note.context = cell.context;
    if (note.kind != CellKind::whole) {
        note.number = cell.words[0];
        note.bytes = cell.words[1];
        note.address = cell.words[2];
    }
    return note;
}

std::span<std::byte const> InQueue::body_of(Cell const& cell) const noexcept {
    if (static_cast<CellKind>(cell.kind) == CellKind::whole && cell.bytes <= sizeof cell.words) {
        return {reinterpret_cast<std::byte const*>(cell.words.data()), cell.bytes};
    }
    std::uint32_t const at = (cell.pool_end - in_lines(cell.bytes)) & (shape_.pool - 1);
    return {pool_ + at, cell.bytes};
}

bool InQueue::take(Cell const& cell) noexcept {
    pool_taken_ = cell.pool_end;
    ++taken_;
    bool const many = taken_ - told_ >= shape_.cells / 4;
    if (!many && pool_taken_ - pool_told_ < shape_.body_max()) return false;
    credits_->cells.store(told_ = taken_, std::memory_order_release);
    credits_->pool.store(pool_told_ = pool_taken_, std::memory_order_release);
    return true;
}

}  // namespace sluice
