// A NodeReduction finds the largest of each of a few words over the ranks of a node, through memory
// that they share. A rank that waits for it may sleep. An MPI's own reduction spins, and where
// ranks share cores it keeps them from those that are still to come.
#pragma once
#include "schedule/port.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice {

class NodeReduction {
public:
    static constexpr std::size_t word_count = 16;
    using Words = std::array<std::uint64_t, word_count>;

    [[nodiscard]] static std::size_t bytes_needed(Rank ranks) noexcept;

    /// `memory`: zeroed, shared by all; outlives this, as `doorbells` does. `self`: the local
    /// index.
    NodeReduction(std::byte* memory, Rank self, Rank ranks, Doorbells& doorbells) noexcept
        : memory_(memory),
          self_(self),
          ranks_(ranks),
          doorbells_(doorbells) {}

    /// Tells this rank's words. One after the other, in the same order on all ranks.
    void begin(Words const& mine) noexcept;
    /// Whether all have told theirs. Asked by all ranks until it is true, which the first of them
    /// finds out for the others; the doorbell rings when it may have changed.
    [[nodiscard]] bool finished() noexcept;
    /// Until the next begin().
    [[nodiscard]] Words const& largest() const noexcept { return place(ranks_).words; }

private:
    /// None is written while it is read: the result only when all ranks have begun the next
    /// reduction, and so have read it; a rank's words only when that rank has the result of them.
    struct alignas(64) Place {
        std::atomic<std::uint64_t> number;  ///< Of the reduction that the words are for.
        Words words;
    };

    /// The result is behind the places of the ranks.
    [[nodiscard]] Place& place(Rank index) const noexcept;
    void combine() const noexcept;

    std::byte* memory_;
    Rank self_, ranks_;
    Doorbells& doorbells_;
    std::uint64_t number_ = 0;
};

}  // namespace sluice
