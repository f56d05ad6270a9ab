// Dynamic segmentation divides the ranks, not the file. Each group of ranks has aggregators of its
// own, which gather and sort only what their group wants, in windows of the group's span; spans of
// different groups may interleave. No group has ranks of two nodes, so no data goes between nodes,
// and each node completes the plan for itself from the records on its board. These functions are
// pure; plan.hpp calls them.
#pragma once
#include "base/topology.hpp"
#include "file/plan/domains.hpp"

#include <vector>

namespace sluice {

/// The groups of one node, and who serves them.
struct Groups {
    Node node = -1;        ///< Whose they are; -1: the plan is not by groups.
    Rank local_count = 0;  ///< Ranks of the node.
    std::int32_t aggregators_each = 0;
    std::vector<Span> spans;  ///< What each group wants; may be empty.

    [[nodiscard]] std::int32_t count() const noexcept {
        return static_cast<std::int32_t>(spans.size());
    }
    /// Neighbours on the node belong together.
    [[nodiscard]] std::int32_t group_of_local(Rank local) const noexcept {
        return static_cast<std::int32_t>(std::int64_t{local} * count() / local_count);
    }
    [[nodiscard]] std::int32_t group_of_aggregator(std::int32_t a) const noexcept {
        return a / aggregators_each;
    }
    /// Place on the node of the rank that serves aggregator `a`: one of the first of its group.
    [[nodiscard]] Rank local_of_aggregator(std::int32_t a) const noexcept {
        std::int64_t const group = group_of_aggregator(a);
        std::int64_t const first = (group * local_count + count() - 1) / count();
        return static_cast<Rank>(first + a % aggregators_each);
    }
    bool operator==(Groups const&) const = default;
};

/// Groups without spans yet: `wanted` of them (0: one where there are other nodes, else as many as
/// aggregators), and about `aggregators` in all on the node, but no more than ranks.
[[nodiscard]] Groups make_groups(Topology const& topology, Node node, std::int32_t wanted,
                                 std::int32_t aggregators);

/// By aggregator: even shares of its group's span; empty ones where there is not enough.
[[nodiscard]] std::vector<Span> group_domains(Groups const& groups, Bytes unit);

}  // namespace sluice
