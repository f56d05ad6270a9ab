// The stage of weights: where in the span all ranks' bytes are. A reduction like the exchange of
// summaries, of another record, only where the division of the span needs it. The node's ranks add
// to one board, whose sums only grow: what they grew by since the board was used last is this
// operation's.
#pragma once
#include "file/run/shared_region.hpp"

namespace sluice {

struct Weighing {
    Weights all;                ///< Memory::record: own, then of more and more ranks.
    Weights came;               ///< From another node.
    Weights sums, sums_before;  ///< Of the board: now, and when it was used last.

    void copy(Op const& op, SharedRegion const& window) noexcept;
    void merge(Op const& op, SharedRegion const& window) noexcept;
    [[nodiscard]] std::span<std::byte> message(Op const& op) noexcept;
};

}  // namespace sluice
