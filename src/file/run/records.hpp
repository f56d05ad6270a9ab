// The records that reductions combine, and what the ops of a reduction do with them on the board
// of a node and in messages. All reductions have one schedule, of file/plan/schedule_reduction.hpp,
// and differ in their records: the exchange of summaries and the agreement combine a Summary, the
// stage of weights combines Weights, that of overlap an Overlap. Effects calls the same four
// functions of each.
#pragma once
#include "file/run/shared_region.hpp"

#include <span>

namespace sluice {

/// Each rank has a place of its own on the board: the summaries of a node can be read there.
struct SummaryReduction {
    Summary record;    ///< Memory::record: the rank's own, then that of more and more ranks.
    Summary incoming;  ///< Memory::message: one from another node.

    void copy(Op const& op, SharedRegion const& region, Rank local) noexcept;
    void merge(Op const& op, SharedRegion const& region) noexcept;
    [[nodiscard]] std::span<std::byte> message(Memory role) noexcept;
    /// A message did not come, or did not go. Of one that did not come nothing is known but that.
    void fail(Memory role) noexcept;
};

/// Where in the span the bytes of all ranks lie: only where domains are to hold equal bytes. The
/// ranks of a node add to one board whose sums only grow, which costs less than reading a record of
/// 512 bytes of each: what they grew by since the board was used last belongs to this operation.
struct WeightsReduction {
    Weights record, incoming;
    Weights sums, sums_before;  ///< Of the board: now, and when it was used last.

    void copy(Op const& op, SharedRegion const& region, Rank local) noexcept;
    void merge(Op const& op, SharedRegion const& region) noexcept;
    [[nodiscard]] std::span<std::byte> message(Memory role) noexcept;
    void fail(Memory role) noexcept;
    /// All nodes hear of a lost message with the sums, and then divide the span evenly.
    [[nodiscard]] Weights const& result() const noexcept;
};

/// Which blocks of a stretch of the file all ranks touch, in this operation and in earlier ones:
/// only where the spans of ordered operations have common bytes.
struct OverlapReduction {
    Overlap record, incoming;

    void copy(Op const& op, SharedRegion const& region, Rank local) noexcept;
    void merge(Op const& op, SharedRegion const& region) noexcept;
    [[nodiscard]] std::span<std::byte> message(Memory role) noexcept;
    /// Nothing is known then, so the operation waits for the earlier ones.
    void fail(Memory role) noexcept;
};

}  // namespace sluice
