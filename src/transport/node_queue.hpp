// An OutQueue and an InQueue are the two ends of one direction between two ranks of a node: a ring
// of cells in memory that they share, and a pool for what does not fit into a cell. There is one
// sender and one receiver. A cell says itself that it is full, so a small message moves one cache
// line; the receiver tells only now and then what it has taken. node_peer.hpp uses both.
#pragma once
#include "base/topology.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

enum class CellKind : std::uint8_t {
    whole,     ///< A message with all of its bytes.
    offer,     ///< A large message: its number, its bytes, where they lie at the sender.
    grant,     ///< Back: its receive began, fragments may come.
    fragment,  ///< The next bytes of it.
    shorten,   ///< Back: fragments are wanted up to here only, the receiver copies the rest itself.
    done,      ///< Back: the sender may have its memory again.
};

/// What a cell says beside the bytes.
struct Note {
    CellKind kind = CellKind::whole;
    std::int32_t tag = 0;
    std::uint64_t context = 0;
    std::uint64_t number = 0;  ///< Of the large message, given by its sender.
    std::uint64_t bytes = 0;   ///< offer: of all; shorten: up to where.
    std::uint64_t address = 0;
};

inline constexpr std::size_t cache_line = 64;

struct alignas(cache_line) Cell {
    std::atomic<std::uint32_t> filled;  ///< How many cells were filled with this one; wraps.
    std::uint32_t pool_end;             ///< Where its bytes end in the pool; wraps.
    std::uint64_t context;
    std::int32_t tag;
    std::uint32_t kind : 4, bytes : 28;
    std::array<std::uint64_t, 5> words;  ///< A small message itself, or its number, and so on.
};
static_assert(sizeof(Cell) == cache_line);

/// What the receiver has taken; on a line of its own, and none of the sender's beside it.
struct alignas(2 * cache_line) Credits {
    std::atomic<std::uint32_t> cells, pool;
};

/// How large the queues between so many ranks are. Everything is a power of two.
struct QueueShape {
    std::uint32_t cells = 0, pool = 0;

    [[nodiscard]] static QueueShape of(Rank ranks) noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// The most that one cell brings from the pool.
    [[nodiscard]] std::uint32_t body_max() const noexcept { return pool / 4; }
};

/// The sender's end.
class OutQueue {
public:
    OutQueue(std::byte* memory, QueueShape shape) noexcept;
    /// Fills a cell; false when there is no room for it now. At most body_max().
    [[nodiscard]] bool post(Note const& note, std::span<std::byte const> body) noexcept;

private:
    [[nodiscard]] bool has_room(std::uint32_t pooled) noexcept;

    Credits* credits_;
    Cell* cells_;
    std::byte* pool_;
    QueueShape shape_;
    std::uint32_t filled_ = 0, pool_end_ = 0;
    std::uint32_t taken_ = 0, pool_taken_ = 0;  ///< As the credits last said.
};

/// The receiver's end.
class InQueue {
public:
    InQueue(std::byte* memory, QueueShape shape) noexcept;
    /// The next cell that came; stays until take().
    [[nodiscard]] Cell const* next() const noexcept {
        Cell const& cell = cells_[taken_ & (shape_.cells - 1)];
        return cell.filled.load(std::memory_order_acquire) == taken_ + 1 ? &cell : nullptr;
    }
    [[nodiscard]] Note note_in(Cell const& cell) const noexcept;
    [[nodiscard]] std::span<std::byte const> body_of(Cell const& cell) const noexcept;
    /// True when the sender was told that there is room again.
    bool take(Cell const& cell) noexcept;

private:
    Credits* credits_;
    Cell const* cells_;
    std::byte const* pool_;
    QueueShape shape_;
    std::uint32_t taken_ = 0, pool_taken_ = 0;
    std::uint32_t told_ = 0, pool_told_ = 0;
};

}  // namespace sluice
