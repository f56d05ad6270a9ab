// A SharedRegion lays out the memory that the ranks of a node share for one operation queue: boards
// for summaries and claims, counters of rounds, and collective buffers with their coverages. Every
// place is a pure function of the region's shape, so ranks exchange no addresses. Which rounds have
// which collective buffers is decided as they begin.
#pragma once
#include "file/plan/claims.hpp"
#include "file/plan/coverage.hpp"
#include "file/plan/overlap.hpp"
#include "file/plan/staging.hpp"
#include "file/run/cb_buffer_pool.hpp"
#include "schedule/schedule.hpp"

#include <array>
#include <atomic>

namespace sluice {

/// Operations of one operation queue that may be under way at once, and boards for them. A rank can
/// be ahead of another by twice the operations under way, so boards are twice as many. With fewer
/// no record would be overwritten, but a rank could announce on a board what it waits for while
/// another one still waits there for an earlier operation, and would never be woken
/// (tests/models/boards.pml).
inline constexpr std::int64_t operations_under_way = 8;
inline constexpr std::int64_t board_count = 2 * operations_under_way;
/// Boards are used in turn.
constexpr std::size_t board_of(std::int64_t operation) noexcept {
    return static_cast<std::size_t>(operation % board_count);
}

struct alignas(64) Counter {
    std::atomic<std::int64_t> value;
    std::atomic<std::int64_t> wanted;    ///< The least that a waiter needs; unused for `turn`.
    std::atomic<std::uint64_t> waiters;  ///< Ranks to ring: bit = local index mod 64.
    /// Of `turn`: the collective buffer of the round, counted from 1; 0: it has none. It lies
    /// beside what every rank that needs it has just looked at.
    std::atomic<std::int32_t> cb_buffer;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "counters live in shared memory");

/// Whoever advances the counter rings the rank at this place of the node from now on.
inline void mark_waiter(std::atomic<std::uint64_t>& waiters, Rank local) {
    std::uint64_t const own = std::uint64_t{1} << (local % 64);
    if (!(waiters.load(std::memory_order_relaxed) & own))
        waiters.fetch_or(own, std::memory_order_seq_cst);
}

/// How far a rank of the node is in its calls, which others ask when they wait for it too long. The
/// rank writes at each call, so nobody else writes to its cache line.
struct alignas(64) Caller {
    std::atomic<std::int64_t> calls;        ///< Made on the operation queue.
    std::atomic<std::int32_t> rank_in_job;  ///< Counted from 1; 0: it has not told yet.
};

struct RegionShape {
    Rank local_count = 1;
    std::int32_t aggregator_count = 1;
    Bytes cb_buffer_bytes_max =
        0;  ///< Address space of a collective buffer; memory is reserved as needed.
    std::size_t beside_bytes = 0;  ///< For what the ranks of a file share beside its operations.

    /// Collective buffers that there are addresses for: with the last resort as many as there can
    /// be rounds under way, but not more than a node has any use for.
    [[nodiscard]] std::int32_t cb_buffers() const noexcept {
        return static_cast<std::int32_t>(
            std::min<std::int64_t>(cb_buffers_of(aggregator_count), cb_buffers_most));
    }
};

/// One collective buffer, cut to the window of one round.
struct CbBuffer {
    std::byte* data = nullptr;
    Coverage coverage;
    std::atomic<std::int64_t>* limit;  ///< Reads: where the file ended, else beyond the window.
};

class SharedRegion {
public:
    SharedRegion() = default;
    /// `memory` is zero at first, page-aligned, shared by the node, and outlives this.
    SharedRegion(std::byte* memory, RegionShape shape) noexcept;

    static std::size_t bytes_needed(RegionShape const& shape) noexcept;
    /// Boards and counters but those of claims and rounds: memory to have before anything else.
    static Span control(RegionShape const& shape) noexcept;
    /// All but the collective buffers.
    static Span bookkeeping(RegionShape const& shape) noexcept;
    /// Memory to have before an operation has so many aggregators: claims, and counters of rounds.
    static std::array<Span, 2> of_aggregators(RegionShape const& shape, std::int64_t operation,
                                              std::int32_t aggregators) noexcept;
    /// Memory of a collective buffer for windows of so many bytes: data and coverage.
    static std::array<Span, 2> of_cb_buffer(RegionShape const& shape, std::int32_t cb_buffer,
                                            Bytes window_bytes) noexcept;

    [[nodiscard]] RegionShape const& shape() const noexcept { return shape_; }
    [[nodiscard]] Counter& counter(CounterRef const& ref) const noexcept;
    /// What `posted` of a collective buffer stood at when the round before ended: its local
    /// aggregator sets it.
    [[nodiscard]] std::atomic<std::int64_t>& settled(std::int32_t aggregator,
                                                     std::int64_t round) const noexcept;
    [[nodiscard]] Summary& record(Channel channel, std::int64_t operation,
                                  Rank local) const noexcept;
    [[nodiscard]] Summary& announcement(Channel channel, std::int64_t operation) const noexcept;
    /// What the node's ranks weighed in this and earlier uses of the board: adds up.
    [[nodiscard]] std::span<std::atomic<Bytes>, Weights::share_count>
    weighed(std::int64_t operation) const noexcept;
    [[nodiscard]] Weights& announced_weights(std::int64_t operation) const noexcept;
    [[nodiscard]] Overlap& overlap(std::int64_t operation, Rank local) const noexcept;
    [[nodiscard]] Overlap& announced_overlap(std::int64_t operation) const noexcept;
    [[nodiscard]] Claim& claim(std::int64_t operation, Rank local, std::int32_t a) const noexcept;
    [[nodiscard]] Caller& caller(Rank local) const noexcept {
        return at<Caller>(callers_at_)[local];
    }
    [[nodiscard]] CbBufferPool& pool() const noexcept { return *at<CbBufferPool>(pool_at_); }
    /// Which collective buffer the round has, counted from 1; 0: none.
    [[nodiscard]] std::atomic<std::int32_t>& cb_buffer_of(std::int32_t aggregator,
                                                          std::int64_t round) const noexcept;
    /// That of a round that has one.
    [[nodiscard]] CbBuffer cb_buffer(std::int32_t aggregator, std::int64_t round,
                                     Bytes window_bytes, Bytes granule_bytes) const noexcept;
    /// Where a read of the round found the file to end, else beyond the window.
    [[nodiscard]] std::atomic<std::int64_t>& limit(std::int32_t aggregator,
                                                   std::int64_t round) const noexcept;
    /// The shape's `beside_bytes`, of the control part.
    [[nodiscard]] std::byte* beside() const noexcept { return memory_ + beside_at_; }

private:
    struct Places;
    static Places places(RegionShape const& shape) noexcept;
    template <class T> T* at(std::size_t offset) const noexcept {
        return reinterpret_cast<T*>(memory_ + offset);
    }
    [[nodiscard]] std::size_t board(Channel channel, std::int64_t operation) const noexcept;
    struct RoundPlace;
    [[nodiscard]] RoundPlace& round_place(std::int32_t aggregator,
                                          std::int64_t round) const noexcept;

    std::byte* memory_ = nullptr;
    RegionShape shape_;
    std::size_t board_bytes_ = 0, weights_at_ = 0, overlaps_at_ = 0, overlap_bytes_ = 0,
                claims_at_ = 0, claims_bytes_ = 0, rounds_at_ = 0, pool_at_ = 0, callers_at_ = 0,
                beside_at_ = 0, data_at_ = 0;
};

}  // namespace sluice
