// From the merged summary to domains, windows and cycles. Pure.
#include "core/plan.hpp"

#include <bit>

namespace sluice {
namespace {

constexpr Bytes domain_bytes_min = 256 * 1024;  ///< Below this a second aggregator costs more.
/// Stretches of a node that are as long as this on average go to the file without a detour over
/// another node; half of what a single rank's pieces need for it, as a message costs more than a
/// copy.
constexpr Bytes apart_bytes_min = 256 * 1024;
constexpr Bytes cyclic_stripe_bytes = Bytes{1} << 20;      ///< Where nobody knows the file's.
constexpr Bytes cyclic_stripe_bytes_max = Bytes{1} << 32;  ///< No file system has longer ones.

Bytes round_up(Bytes value, Bytes unit) noexcept { return (value + unit - 1) / unit * unit; }

/// The largest power of two that divides all offsets and lengths, up to a page.
Bytes granule(std::uint64_t alignment_bits) noexcept {
    if (alignment_bits == 0) return stripe_bytes_default;
    return std::min<Bytes>(stripe_bytes_default, Bytes{1} << std::countr_zero(alignment_bits));
}

std::int64_t domain_count(Summary const& all, Topology const& topology, PlanLimits limits) {
    std::int64_t wanted = all.hints.aggregator_count;
    if (wanted <= 0) {
        std::int64_t const useful = (all.span.bytes() + domain_bytes_min - 1) / domain_bytes_min;
        wanted = std::min<std::int64_t>(limits.aggregator_count, useful);
    }
    return std::clamp<std::int64_t>(wanted, 1, topology.aggregator_count_max());
}

Bytes window_bytes(Summary const& all) noexcept {
    Bytes wanted = wished_window_bytes(all.hints);
    if (all.hints.stripe_bytes > 0 && all.hints.stripe_bytes < wanted) {
        wanted = wanted / all.hints.stripe_bytes * all.hints.stripe_bytes;
    }
    wanted = round_up(std::max<Bytes>(wanted, 1), stripe_bytes_default);
    return std::max(stripe_bytes_default,
                    std::min(wanted, all.slot_bytes / stripe_bytes_default * stripe_bytes_default));
}

Bytes unit_of(Hints const& hints) noexcept {
    return std::max(stripe_bytes_default, hints.stripe_bytes);
}

Bytes cyclic_unit_of(Hints const& hints) noexcept {
    return hints.stripe_bytes > 0 ? unit_of(hints) : cyclic_stripe_bytes;
}

/// Most of the span belongs to nobody, and there is enough to share: even shares may be uneven.
bool is_sparse(Summary const& all, std::int64_t count) noexcept {
    return all.bytes <= all.span.bytes() / 4 && all.bytes >= count * domain_bytes_min;
}

/// The nodes' parts are long stretches: an exchange between them would gain nothing.
bool can_go_apart(Summary const& all, Topology const& topology) noexcept {
    std::int32_t const aggregators = all.hints.aggregator_count, nodes = topology.node_count();
    bool const free = !topology.is_placed() && (aggregators == 0 || aggregators >= nodes);
    bool const known = all.unsketched == 0 && all.stretches > 0;
    return nodes > 1 && free && known && all.bytes / all.stretches >= apart_bytes_min;
}

Domains division(Summary const& all, Topology const& topology, std::int64_t count) noexcept {
    Hints const& hints = all.hints;
    Bytes const stripe = cyclic_unit_of(hints);
    bool const striped = stripe < all.span.bytes() && stripe <= cyclic_stripe_bytes_max;
    bool const several_servers = hints.stripe_bytes > 0 && hints.stripe_count > 1;
    if (hints.domains == Domains::groups) return Domains::groups;
    bool const decides = hints.domains == Domains::automatic && !several_servers;
    if (decides && can_go_apart(all, topology)) return Domains::groups;
    if (count == 1 || hints.domains == Domains::even) return Domains::even;
    if (hints.domains == Domains::balanced) return Domains::balanced;
    if (hints.domains == Domains::cyclic) return striped ? Domains::cyclic : Domains::even;
    if (several_servers && striped) return Domains::cyclic;
    return is_sparse(all, count) ? Domains::balanced : Domains::even;
}

void divide(Plan& plan, Summary const& all, Topology const& topology, std::int64_t count,
            Weights const* weights) {
    Bytes unit = unit_of(all.hints);
    plan.division = division(all, topology, count);
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

char const* choose(Summary const& all, Strategy& chosen) noexcept {
    Strategy const hint = all.operation == 1 ? all.hints.write : all.hints.read;
    chosen = Strategy::independent;
    if (all.bytes == 0) return "every rank's part is contiguous and large enough by itself";
    if (all.slot_bytes < stripe_bytes_default) return "no memory for staging";
    if (hint == Strategy::independent) return "a hint asks for it";
    chosen = Strategy::two_phase;
    if (hint == Strategy::two_phase) return "a hint asks for it";
    return all.interleaved != 0 ? "ranks interleave in the file" : "pieces are small";
}

/// Nodes exchange what they cover, so there a coverage is needed in any case.
bool proves_coverage(Summary const& all) noexcept {
    return all.unproven == 0 && all.fingerprint == fingerprint(all.span);
}

}  // namespace

std::int64_t Plan::cycle_count(std::int32_t a) const noexcept {
    if (a >= aggregator_count()) return 0;
    return cutting().cycle_count(domains[static_cast<std::size_t>(a)]);
}

Window Plan::window(std::int32_t a, std::int64_t cycle) const noexcept {
    return cutting().window(domains[static_cast<std::size_t>(a)], cycle);
}

Plan make_plan(Summary const& all, Topology const& topology, PlanLimits limits,
               Weights const* weights) {
    Plan plan;
    plan.direction = all.operation == 1 ? Direction::write : Direction::read;
    plan.reason = choose(all, plan.strategy);
    if (plan.strategy != Strategy::two_phase) return plan;
    plan.window_bytes = window_bytes(all);
    plan.slot_count = std::max(1, all.slot_count);
    plan.span = all.span;
    plan.covered = topology.node_count() == 1 && proves_coverage(all);
    auto const count = domain_count(all, topology, limits);
    divide(plan, all, topology, count, weights);
    if (topology.node_count() == 1 || plan.division == Domains::groups) return plan;
    // Domains that weights will make are as many as are asked for.
    auto const many = plan.domains.empty() ? count : plan.aggregator_count();
    auto const choice = choose_delivery(all, topology, static_cast<std::int32_t>(many),
                                        plan.window_bytes, limits.costs);
    plan.metadata = choice.metadata, plan.data = choice.data, plan.throttle = choice.throttle;
    plan.local_aggregators = all.hints.local_aggregators;
    plan.delivery_reason = choice.reason;
    return plan;
}

void divide_by_groups(Plan& plan, Summary const& all, Topology const& topology, Node node,
                      std::span<Summary const> records, PlanLimits limits) {
    auto const nodes = topology.node_count();
    auto const aggregators = (domain_count(all, topology, limits) + nodes - 1) / nodes;
    Groups& groups = plan.groups;
    groups =
        make_groups(topology, node, all.hints.group_count, static_cast<std::int32_t>(aggregators));
    std::vector<Summary> merged(groups.spans.size());
    for (std::size_t local = 0; local < records.size(); ++local) {
        auto const group =
            static_cast<std::size_t>(groups.group_of_local(static_cast<Rank>(local)));
        bool const first = local == 0 || groups.group_of_local(static_cast<Rank>(local - 1)) !=
                                             static_cast<std::int32_t>(group);
        merged[group] = first ? records[local] : merge(merged[group], records[local]);
        groups.spans[group] = merged[group].span;
    }
    plan.covered = nodes == 1 && std::all_of(merged.begin(), merged.end(), proves_coverage);
    plan.domains = group_domains(groups, unit_of(all.hints));
}

std::string describe(Plan const& plan) {
    std::string text = describe(plan.direction);
    if (plan.strategy != Strategy::two_phase) return text + " independent: " + plan.reason;
    text += " two-phase: " + std::string(plan.reason) + "; ";
    text += std::to_string(plan.aggregator_count()) + " aggregators, windows of " +
            std::to_string(plan.window_bytes) + " bytes, " + std::to_string(plan.slot_count) +
            " slots, " +
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
        text += "\n  metadata " + describe(plan.metadata) + "; data " + describe(plan.data) +
                "; throttle " + describe(plan.throttle);
        if (*plan.delivery_reason) text += ": " + std::string(plan.delivery_reason);
    }
    for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
        Span const& domain = plan.domains[static_cast<std::size_t>(a)];
        text += "\n  aggregator " + std::to_string(a) + ": [" + std::to_string(domain.begin) +
                ", " + std::to_string(domain.end) + ") in " + std::to_string(plan.cycle_count(a)) +
                " cycles";
    }
    return text;
}

}  // namespace sluice
