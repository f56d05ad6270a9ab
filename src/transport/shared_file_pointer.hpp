// A SharedFilePointer is the file pointer that all ranks of an open file move: a counter in memory
// that they share, so all of them are on one node. It counts etypes of the file's view. Files use
// it one after another, as they do the operation queue beside which it lies.
#pragma once
#include "transport/node_reduction.hpp"

#include <optional>

namespace sluice {

class SharedFilePointer {
public:
    [[nodiscard]] static std::size_t bytes_needed(Rank ranks) noexcept;

    /// `memory`: zeroed, shared by all; outlives this, as `doorbells` does. `self`: the local
    /// index.
    SharedFilePointer(std::byte* memory, Rank self, Rank ranks, Doorbells& doorbells) noexcept;

    /// Where it is now. Local, any thread.
    [[nodiscard]] std::int64_t position() const noexcept;

    /// Moves it on by `count` and returns where it was, so that no two calls of any rank or thread
    /// get a common place. Nothing, and no move, where `fits(position)` is false. Local, any
    /// thread.
    template <class Fits>
    [[nodiscard]] std::optional<std::int64_t> advance(std::int64_t count, Fits fits) noexcept {
        std::int64_t at = position();
        while (fits(at)) {
            if (counter().compare_exchange_weak(at, at + count)) return at;
        }
        return std::nullopt;
    }

    /// Sets it. By one rank, while the others wait for it in a meeting.
    void set(std::int64_t position) noexcept { counter().store(position); }

    /// Sets it to zero. All ranks call this, each of them after a meeting that all came to when
    /// they were done with the pointer as it was. They do not wait for each other here.
    void restart() noexcept;

    /// Reductions of the file's own, so threads with other files of the communicator do not disturb
    /// them.
    NodeReduction meeting;

private:
    using Counter = std::atomic<std::int64_t>;
    static_assert(Counter::is_always_lock_free, "counters live in shared memory");

    /// One is used, and the other one is zero already when all come to use it: a rank clears the
    /// one that was used before the last meeting, and nobody uses that before the next one.
    struct alignas(64) Counters {
        Counter of_turn[2];
    };
    [[nodiscard]] Counter& counter() const noexcept { return counters_.of_turn[turn_]; }

    Counters& counters_;
    std::size_t turn_ = 0;
};

}  // namespace sluice
