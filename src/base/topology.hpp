// Which ranks of a communicator share a node, and who serves whom. Pure; equal on all ranks.
// O(ranks) words: the only table of that size in the library.
#pragma once
#include <cstdint>
#include <vector>

namespace sluice {

using Rank = std::int32_t;  ///< In the file's communicator.
using Node = std::int32_t;  ///< Nodes are numbered by their lowest rank.

class Topology {
public:
    /// `node_names[r]` is any number that ranks of one node have in common.
    explicit Topology(std::vector<std::int32_t> const& node_names);

    /// The same nodes with other aggregators: different ranks.
    [[nodiscard]] Topology with_aggregators(std::vector<Rank> ranks) const;
    /// Two-layer aggregation as its paper has it, with so many local aggregators in all: each node
    /// is cut into groups of neighbours, which count as nodes from then on, and the first rank of a
    /// group is its local aggregator. At least one for each node, at most all its ranks.
    /// Aggregators stay the same ranks.
    [[nodiscard]] Topology divided(Rank local_aggregators) const;

    [[nodiscard]] Rank rank_count() const noexcept { return static_cast<Rank>(node_.size()); }
    [[nodiscard]] Node node_count() const noexcept { return static_cast<Node>(first_.size()) - 1; }
    [[nodiscard]] Node node_of(Rank rank) const noexcept { return node_[index(rank)]; }
    [[nodiscard]] Rank local_count(Node node) const noexcept;
    /// Place of a rank among the ranks of its node.
    [[nodiscard]] Rank local_index(Rank rank) const noexcept { return local_[index(rank)]; }
    [[nodiscard]] Rank rank_at(Node node, Rank local) const noexcept;
    /// The lowest rank of a node speaks for it.
    [[nodiscard]] Rank leader(Node node) const noexcept { return rank_at(node, 0); }

    /// The rank that serves aggregator number `a`: spread over the nodes first. Every rank can be
    /// one.
    [[nodiscard]] Rank aggregator(std::int32_t a) const noexcept { return aggregators_[index(a)]; }
    /// The rank that carries the node's bytes to and from aggregator `a`: the aggregator itself on
    /// its own node, elsewhere its ranks in turn, from one aggregator to the next; divided(): its
    /// first rank.
    [[nodiscard]] Rank local_aggregator(Node node, std::int32_t a) const noexcept;
    [[nodiscard]] std::int32_t aggregator_count_max() const noexcept;
    /// Somebody else decided which ranks are aggregators.
    [[nodiscard]] bool is_placed() const noexcept { return placed_; }
    /// Place of a rank in the list that takes one rank of each node, then the next of each.
    [[nodiscard]] Rank spread_place(Rank rank) const noexcept { return place_[index(rank)]; }

private:
    static std::size_t index(std::int32_t i) noexcept { return static_cast<std::size_t>(i); }

    void spread();

    std::vector<Node> node_, local_;  ///< Of each rank.
    std::vector<Rank> place_;         ///< Of each rank, round robin over the nodes.
    std::vector<Rank> aggregators_;
    bool placed_ = false, divided_ = false;
    std::vector<Rank> ranks_, first_;  ///< Ranks by node; where each node's begin.
};

}  // namespace sluice
