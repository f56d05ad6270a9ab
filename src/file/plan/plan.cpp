// How a plan is made from the decision and the merged summary. See plan.hpp.
#include "file/plan/plan.hpp"

#include <bit>

namespace sluice {
namespace {

/// The largest power of two that divides all offsets and lengths, up to a page.
Bytes granule(std::uint64_t alignment_bits) noexcept {
    if (alignment_bits == 0) return stripe_bytes_default;
    return std::min<Bytes>(stripe_bytes_default, Bytes{1} << std::countr_zero(alignment_bits));
}

void divide(Plan& plan, Summary const& all, std::int64_t count, Weights const* weights) {
    Bytes unit = unit_of(all.hints);
    if (plan.division == Domains::cyclic) {
        unit = plan.stripe_bytes = cyclic_unit_of(all.hints);
        plan.domains = cyclic_domains(all.span, cyclic_count(count, all.hints.stripe_count), unit);
    } else if (plan.division == Domains::even) {
        plan.domains = even_domains(all.span, count, unit);
    } else if (weights && plan.division == Domains::balanced) {
        plan.domains = balanced_domains(all.span, *weights, count, unit);
    }
    plan.granule_bytes = granule(all.alignment | static_cast<std::uint64_t>(unit));
}

}  // namespace

std::int64_t Plan::round_count(std::int32_t a) const noexcept {
    if (a >= aggregator_count()) return 0;
    return cutting().round_count(domains[static_cast<std::size_t>(a)]);
}

Window Plan::window(std::int32_t a, std::int64_t round) const noexcept {
    return cutting().window(domains[static_cast<std::size_t>(a)], round);
}

Plan make_plan(Decision const& decision, Summary const& all, Topology const& topology,
               PlanLimits const& limits, Weights const* weights) {
    Candidate const& way = decision.way;
    Plan plan;
    plan.direction = all.operation == 1 ? Direction::write : Direction::read;
    plan.reason = decision.reason;
    plan.strategy = way.strategy;
    if (plan.direction == Direction::read) plan.sieve_bytes = way.sieve_bytes;
    if (plan.strategy != Strategy::two_phase) return plan;
    plan.window_bytes = way.window_bytes;
    plan.cb_buffer_count = std::max(1, all.cb_buffer_count);
    plan.span = all.span;
    // Nodes exchange what they cover, so there a coverage is needed in any case.
    plan.covered = topology.node_count() == 1 && is_covered(all, limits.key.get());
    plan.division = way.domains;
    divide(plan, all, way.aggregators, weights);
    if (topology.node_count() == 1 || plan.division == Domains::groups) return plan;
    // Domains that weights will make are as many as are asked for.
    auto const many = plan.domains.empty() ? way.aggregators : plan.aggregator_count();
    Summary asked = all;
    asked.hints.data.layers = way.layers;
    auto const choice = choose_delivery(asked, topology, many, plan.window_bytes, limits.costs);
    plan.metadata = choice.metadata, plan.data = choice.data;
    plan.staged_whole = all.staged_whole != 0 && all.hints_differ == 0;
    if (plan.sends_in_turn() && !plan.staged_whole) plan.data.kernel = Kernel::even;
    bool const by_model = decision.priced && all.hints.data.layers == Layers::automatic;
    plan.delivery_reason = by_model ? "it is estimated to be the fastest" : choice.reason;
    return plan;
}

Plan make_plan(Summary const& all, Topology const& topology, PlanLimits const& limits,
               Weights const* weights) {
    return make_plan(decide(all, topology, limits, weights), all, topology, limits, weights);
}

void divide_by_groups(Plan& plan, Summary const& all, Topology const& topology, Node node,
                      std::span<Summary const> records, std::int32_t aggregators,
                      FingerprintKey const* key) {
    auto const nodes = topology.node_count();
    Groups& groups = plan.groups;
    groups = make_groups(topology, node, all.hints.group_count, (aggregators + nodes - 1) / nodes);
    std::vector<Summary> merged(groups.spans.size());
    for (std::size_t local = 0; local < records.size(); ++local) {
        auto const group =
            static_cast<std::size_t>(groups.group_of_local(static_cast<Rank>(local)));
        bool const first = local == 0 || groups.group_of_local(static_cast<Rank>(local - 1)) !=
                                             static_cast<std::int32_t>(group);
        merged[group] = first ? records[local] : merge(merged[group], records[local]);
        groups.spans[group] = merged[group].span;
    }
    plan.covered = nodes == 1 && std::ranges::all_of(merged, [key](Summary const& group) {
                       return is_covered(group, key);
                   });
    plan.domains = group_domains(groups, unit_of(all.hints));
}

std::string describe(Plan const& plan) {
    std::string text = describe(plan.direction);
    if (plan.strategy != Strategy::two_phase) return text + " independent: " + plan.reason;
    text += " two-phase: " + std::string(plan.reason) + "; ";
    text += std::to_string(plan.aggregator_count()) + " aggregators, windows of " +
            std::to_string(plan.window_bytes) + " bytes, " + std::to_string(plan.cb_buffer_count) +
            " collective buffers, " +
            (plan.covered ? "all covered" : "granule " + std::to_string(plan.granule_bytes));
    if (plan.division == Domains::cyclic) {
        text += ", stripes of " + std::to_string(plan.stripe_bytes) + " bytes in turn";
    }
    if (plan.division == Domains::balanced) text += ", domains of equal bytes";
    if (plan.is_grouped()) {
        text += ", by groups: " + std::to_string(plan.groups.count()) + " on node " +
                std::to_string(plan.groups.node);
    }
    if (plan.data.layers != Layers::automatic) {
        text += "\n  metadata " + describe(plan.metadata) + "; data " + describe(plan.data);
        if (*plan.delivery_reason) text += ": " + std::string(plan.delivery_reason);
    }
    for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
        Span const& domain = plan.domains[static_cast<std::size_t>(a)];
        text += "\n  aggregator " + std::to_string(a) + ": [" + std::to_string(domain.begin) +
                ", " + std::to_string(domain.end) + ") in " + std::to_string(plan.round_count(a)) +
                " rounds";
    }
    return text;
}

}  // namespace sluice
