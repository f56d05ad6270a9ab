// The stage of weights finds out where in the span the bytes of all ranks lie. It is a reduction
// like the exchange of summaries, of another record, and takes place only where domains are to hold
// equal bytes. The ranks of a node add to one board whose sums only grow: what they grew by since
// the board was used last belongs to this operation.
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
