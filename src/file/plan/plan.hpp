// A Plan says which aggregator serves which bytes of the file, in which windows and in how many
// rounds. make_plan() is a pure function of what all ranks agreed on, so every rank makes the same
// plan without a message. claims.hpp then says which rounds concern which rank.
#pragma once
#include "file/plan/decision.hpp"
#include "file/plan/groups.hpp"

#include <span>
#include <string>
#include <vector>

namespace sluice {

/// One entry per aggregator that has work; equal on all ranks; cheap to keep, compare and print.
struct Plan {
    Direction direction = Direction::write;
    Strategy strategy = Strategy::independent;
    Bytes window_bytes = 0;            ///< Of the file, in one round of one aggregator.
    Bytes sieve_bytes = 0;             ///< Gaps of up to this length are read along.
    Bytes granule_bytes = 1;           ///< What one bit of a coverage stands for.
    std::int32_t cb_buffer_count = 1;  ///< Windows of one aggregator that are under way at once.
    Span span;                         ///< From the first to the last byte wanted.
    bool covered = false;  ///< Each byte of the span is wanted exactly once: nothing is marked.
    bool staged_whole = false;         ///< No round waits for a collective buffer, on any node.
    Domains division = Domains::even;  ///< How the span is divided.
    Bytes stripe_bytes = 0;            ///< Of cyclic domains; 0: a domain is one stretch.
    std::vector<Span> domains;         ///< Of each aggregator: from its first byte to its last.
    Groups groups;                     ///< Domains::groups: each node's own, as are its domains.
    char const* reason = "";           ///< Why this strategy, for people.
    // How messages get from node to node; as they are here with one node, where there are none.
    Delivery metadata, data;
    char const* delivery_reason = "";  ///< Why these kernels, for people.

    [[nodiscard]] std::int32_t aggregator_count() const noexcept {
        return static_cast<std::int32_t>(domains.size());
    }
    /// How domains are cut into windows.
    [[nodiscard]] Cutting cutting() const noexcept {
        return {window_bytes, stripe_bytes, stripe_bytes * aggregator_count()};
    }
    [[nodiscard]] std::int64_t round_count(std::int32_t aggregator) const noexcept;
    /// Each rank of another node sends for itself; else its node's local aggregator does.
    [[nodiscard]] bool one_layer() const noexcept { return data.layers == Layers::one; }
    /// A rank sends one message of data at a time. Reads ask ahead: an answer needs the questions
    /// of all ranks, so one that waits for an answer before it asks the next would close a circle.
    [[nodiscard]] bool sends_in_turn() const noexcept {
        return data.kernel == Kernel::pairwise && direction == Direction::write;
    }
    [[nodiscard]] Window window(std::int32_t aggregator, std::int64_t round) const noexcept;
    /// Its domains depend on what each rank of the node wants: see divide_by_groups().
    [[nodiscard]] bool needs_groups() const noexcept {
        return strategy == Strategy::two_phase && domains.empty() && division == Domains::groups;
    }
    [[nodiscard]] bool is_grouped() const noexcept { return groups.node >= 0; }
    /// Whether the aggregator serves the rank at this place of the node.
    [[nodiscard]] bool serves(std::int32_t aggregator, Rank local) const noexcept {
        return !is_grouped() ||
               groups.group_of_aggregator(aggregator) == groups.group_of_local(local);
    }
    /// What the aggregator's domain holds at most, without what rounding added to it.
    [[nodiscard]] Span wanted(std::int32_t aggregator) const noexcept {
        if (!is_grouped()) return span;
        return groups.spans[static_cast<std::size_t>(groups.group_of_aggregator(aggregator))];
    }
    bool operator==(Plan const&) const = default;
};

/// The rank that serves aggregator `a`; of a plan by groups it is one of the plan's own node.
[[nodiscard]] inline Rank aggregator(Topology const& topology, Plan const& plan,
                                     std::int32_t a) noexcept {
    Groups const& groups = plan.groups;
    if (!plan.is_grouped()) return topology.aggregator(a);
    return topology.rank_at(groups.node, groups.local_of_aggregator(a));
}

/// The rank that carries a node's bytes to and from aggregator `a`.
[[nodiscard]] inline Rank local_aggregator(Topology const& topology, Plan const& plan, Node node,
                                           std::int32_t a) noexcept {
    if (plan.is_grouped()) return aggregator(topology, plan, a);
    return topology.local_aggregator(node, a);
}

/// `all` is the merged summary of all ranks, `weights` those of all ranks over its span. Without
/// weights, a plan that needs them is made all but for its domains.
[[nodiscard]] Plan make_plan(Decision const& decision, Summary const& all, Topology const& topology,
                             PlanLimits const& limits, Weights const* weights = nullptr);
[[nodiscard]] Plan make_plan(Summary const& all, Topology const& topology, PlanLimits const& limits,
                             Weights const* weights = nullptr);

/// Completes a plan that needs groups, for one node: `records` are those that its ranks brought to
/// the exchange of summaries, in their order on the node. Equal on all ranks of the node.
/// `aggregators` are those that were decided on, of all nodes.
void divide_by_groups(Plan& plan, Summary const& all, Topology const& topology, Node node,
                      std::span<Summary const> records, std::int32_t aggregators,
                      FingerprintKey const* key);

/// Stable text, for people and golden tests.
[[nodiscard]] std::string describe(Plan const& plan);

}  // namespace sluice
