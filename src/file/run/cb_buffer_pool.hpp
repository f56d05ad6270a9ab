// The CbBufferPool says which of a node's collective buffers are in use, and for how large a window
// each has memory. It lies in memory that the node shares: any rank takes one for a round, and any
// rank gives it back. Nothing here waits. What it decides depends on its own words alone, so it is
// tested without processes.
#pragma once
#include "file/plan/staging.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace sluice {

class CbBufferPool {
public:
    /// The one that only the round takes that comes before all others: see RoundOrder.
    static constexpr std::int32_t last_resort = 0;

    /// The lowest one that is free, of those below `count` but for the last resort, and has memory
    /// for the window, or gets it from `back(buffer)`. Where `back` is false once, nobody asks it
    /// again before may_grow(). Negative: there is none.
    template <class Back> std::int32_t take(std::int32_t count, Bytes window_bytes, Back&& back) {
        for (std::int32_t at = last_resort + 1; (at = first_free(at, count)) < count; ++at) {
            bool const has_memory = backed_bytes(at) >= window_bytes;
            if ((!has_memory && is_full()) || !mark(at)) continue;
            if (has_memory || backed_bytes(at) >= window_bytes || back(at)) return at;
            full_.store(true, std::memory_order_relaxed);
            give(at);
        }
        return -1;
    }
    /// The last resort, whose memory is always there; false where it is in use.
    bool take_last_resort() { return mark(last_resort); }
    void give(std::int32_t at) { words_[word(at)].fetch_and(~bit(at), std::memory_order_seq_cst); }

    /// There may be memory again.
    void may_grow() {
        if (is_full()) full_.store(false, std::memory_order_relaxed);
    }
    [[nodiscard]] Bytes backed_bytes(std::int32_t at) const noexcept {
        return backed_[static_cast<std::size_t>(at)].load(std::memory_order_acquire);
    }
    /// It has memory for so large a window; what it had before, at the least it was.
    Bytes set_backed(std::int32_t at, Bytes window_bytes) noexcept {
        auto& backed = backed_[static_cast<std::size_t>(at)];
        Bytes before = backed.load(std::memory_order_relaxed);
        while (before < window_bytes && !backed.compare_exchange_weak(before, window_bytes)) {
        }
        return before;
    }
    [[nodiscard]] bool is_free(std::int32_t at) const noexcept {
        return (words_[word(at)].load(std::memory_order_seq_cst) & bit(at)) == 0;
    }

    /// Ranks to ring when one is given back or a round ends: bit = local index mod 64.
    std::atomic<std::uint64_t> waiters{0};
    /// Memory of all operation queues of a communicator on this node; of the first one's pool.
    std::atomic<Bytes> staged_bytes{0};

private:
    static std::size_t word(std::int32_t at) noexcept { return static_cast<std::size_t>(at / 64); }
    static std::uint64_t bit(std::int32_t at) noexcept { return std::uint64_t{1} << at % 64; }
    [[nodiscard]] bool is_full() const noexcept { return full_.load(std::memory_order_relaxed); }

    /// False where somebody else was faster.
    bool mark(std::int32_t at) {
        return (words_[word(at)].fetch_or(bit(at), std::memory_order_seq_cst) & bit(at)) == 0;
    }
    /// The first from `from` on; `count` or more: there is none.
    [[nodiscard]] std::int32_t first_free(std::int32_t from, std::int32_t count) const noexcept {
        while (from < count) {
            std::uint64_t const used = words_[word(from)].load(std::memory_order_seq_cst);
            std::uint64_t const free = ~used & ~std::uint64_t{0} << from % 64;
            if (free != 0) return from / 64 * 64 + std::countr_zero(free);
            from = (from / 64 + 1) * 64;
        }
        return count;
    }

    std::array<std::atomic<std::uint64_t>, cb_buffers_most / 64> words_{};
    std::atomic<bool> full_{false};
    std::array<std::atomic<Bytes>, cb_buffers_most> backed_{};
};

}  // namespace sluice
