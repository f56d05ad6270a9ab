// A NodeReduction finds the largest of each of a few words over the ranks of a node, and for each
// rank the sum of a number over the ranks before it, through memory that they share. A rank that
// waits for it may sleep. An MPI's own reduction spins, and where
// ranks share cores it keeps them from those that are still to come.
#pragma once
#include "schedule/port.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sluice {

class NodeReduction {
public:
    static constexpr std::size_t word_count = 16;
    using Words = std::array<std::uint64_t, word_count>;
    /// What one rank does with the result before any rank has it: it may change the words. `sum` is
    /// of the numbers of all ranks.
    using Act = std::function<void(Words& words, std::int64_t sum)>;

    [[nodiscard]] static std::size_t bytes_needed(Rank ranks) noexcept;

    /// `memory`: zeroed, shared by all; outlives this, as `doorbells` does. `self`: the local
    /// index.
    NodeReduction(std::byte* memory, Rank self, Rank ranks, Doorbells& doorbells) noexcept
        : memory_(memory),
          self_(self),
          ranks_(ranks),
          doorbells_(doorbells) {}

    /// Tells this rank's words, and its number, which is not negative. One after the other, in the
    /// same order on all ranks. `act` is called once, by the first rank, in finished(), when all
    /// ranks have begun and none has ended.
    void begin(Words const& mine, std::int64_t number = 0, Act act = {});
    /// Whether all have told theirs. Asked by all ranks until it is true, which the first of them
    /// finds out for the others; the doorbell rings when it may have changed.
    [[nodiscard]] bool finished();
    /// Until the next begin().
    [[nodiscard]] Words const& largest() const noexcept { return place(ranks_).words; }
    /// The sum of the numbers of the ranks before this one; the largest number of its type where
    /// the sum is beyond that. Until the next begin().
    [[nodiscard]] std::int64_t sum_before() const noexcept { return place(self_).number; }

private:
    /// None is written while it is read: the result only when all ranks have begun the next
    /// reduction, and so have read it; a rank's words only when that rank has the result of them.
    struct alignas(64) Place {
        std::atomic<std::uint64_t> turn;  ///< The reduction that the words are for.
        std::int64_t number;  ///< The rank's own, then the sum of those of the ranks before it.
        Words words;
    };

    /// The result is behind the places of the ranks.
    [[nodiscard]] Place& place(Rank index) const noexcept;
    void combine() const;

    std::byte* memory_;
    Rank self_, ranks_;
    Doorbells& doorbells_;
    std::uint64_t turn_ = 0;
    Act act_;
};

}  // namespace sluice
