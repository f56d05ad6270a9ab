// Pure functions of sizes that make the schedule of one rank's part in a collective. All ranks of a
// call must take the same algorithm; collective/algorithm_choice.hpp chooses it.
#pragma once
#include "collective/collective.hpp"
#include "schedule/schedule.hpp"

#include <span>

namespace sluice {

enum class Algorithm : std::uint8_t {
    linear,              ///< Everybody with everybody, or with the root, at once.
    pairwise,            ///< One partner after the other.
    binomial,            ///< A tree that doubles.
    chain,               ///< In segments from rank to rank: a pipeline.
    recursive_doubling,  ///< Partners at distance 1, 2, 4 ...
    recursive_halving,   ///< Of reductions: halves of the data at distance P/2, P/4 ...
    ring,                ///< Blocks go from neighbour to neighbour, all the way about.
    dissemination,       ///< Barriers: rank + 1, 2, 4 ...
    bruck,               ///< log P messages of many blocks.
    scatter_allgather,   ///< Broadcast of large messages: scattered, then gathered by all.
    rabenseifner,        ///< Reductions: recursive halving, then doubling (or a gather).
};
inline constexpr int algorithm_count = 11;

[[nodiscard]] char const* describe(Algorithm algorithm) noexcept;

/// A schedule with the scratch memory that it needs. Memory roles are input, output and scratch
/// only; the ops are send, recv, copy and reduce, all with Channel::collective.
///
/// Messages between two ranks are told apart by Op::value (0 to 63); those of equal value are
/// matched in the order in which they start. So two sends (or receives) of one rank with equal peer
/// and value must be ordered: the later one depends on the earlier, or both may start at once and
/// the earlier comes first in the schedule.
struct CollectiveSchedule {
    Schedule schedule;
    Bytes scratch = 0;
};

/// The algorithms that can serve such a call of so many ranks; never empty. A function of what all
/// ranks know alike: kind, ranks, commutative, in_place where all ranks have it, and `block` of the
/// regular kinds. The first is the one for tiny messages.
[[nodiscard]] std::vector<Algorithm> algorithms_of(CollectiveCall const& call, Rank ranks);

/// Rank `self`'s part. `segment`: in pipelines, how many bytes go at once (rounded to elements).
[[nodiscard]] CollectiveSchedule make_collective(CollectiveCall const& call, Algorithm algorithm,
                                                 Rank self, Rank ranks, Bytes segment = 64 << 10);

}  // namespace sluice
