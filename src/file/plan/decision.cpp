// The rules of thumb, and the questions to the cost model. See decision.hpp.
#include "file/plan/decision.hpp"

#include "base/round_up.hpp"

namespace sluice {
namespace {

constexpr Bytes domain_bytes_min = 256 * 1024;  ///< Below this a second aggregator costs more.
/// Stretches of a node that are as long as this on average go to the file without a detour over
/// another node: from here on groups were as fast on a disk and faster elsewhere (decision 0018).
constexpr Bytes groups_bytes_min = 192 * 1024;
constexpr Bytes cyclic_stripe_bytes_max = Bytes{1} << 32;  ///< No file system has longer ones.

std::int64_t domain_count(Summary const& all, Topology const& topology, PlanLimits const& limits) {
    std::int64_t wanted = all.hints.aggregator_count;
    if (wanted <= 0) {
        std::int64_t const useful = (all.span.bytes() + domain_bytes_min - 1) / domain_bytes_min;
        wanted = std::min<std::int64_t>(limits.aggregator_count, useful);
    }
    return std::clamp<std::int64_t>(wanted, 1, topology.aggregator_count_max());
}

/// Most of the span belongs to nobody, and there is enough to share: even shares may be uneven.
bool is_sparse(Summary const& all, std::int64_t count) noexcept {
    return all.bytes <= all.span.bytes() / 4 && all.bytes >= count * domain_bytes_min;
}

/// Each node can have aggregators of its own, and it is known what they would meet.
bool can_use_groups(Summary const& all, Topology const& topology) noexcept {
    std::int32_t const aggregators = all.hints.aggregator_count, nodes = topology.node_count();
    bool const free = !topology.is_placed() && (aggregators == 0 || aggregators >= nodes);
    bool const known = all.unsketched == 0 && all.stretches > 0;
    return nodes > 1 && free && known;
}

/// The nodes' parts are long stretches: an exchange between them would gain nothing.
bool should_use_groups(Summary const& all, Topology const& topology) noexcept {
    return can_use_groups(all, topology) && all.bytes / all.stretches >= groups_bytes_min;
}

/// The span has more than one stripe.
bool is_striped(Summary const& all) noexcept {
    Bytes const stripe = cyclic_unit_of(all.hints);
    return stripe < all.span.bytes() && stripe <= cyclic_stripe_bytes_max;
}

bool has_several_servers(Hints const& hints) noexcept {
    return hints.stripe_bytes > 0 && hints.stripe_count > 1;
}

Domains division(Summary const& all, Topology const& topology, std::int64_t count) noexcept {
    Hints const& hints = all.hints;
    bool const striped = is_striped(all);
    if (hints.domains == Domains::groups) return Domains::groups;
    bool const decides = hints.domains == Domains::automatic && !has_several_servers(hints);
    if (decides && should_use_groups(all, topology)) return Domains::groups;
    if (count == 1 || hints.domains == Domains::even) return Domains::even;
    if (hints.domains == Domains::balanced) return Domains::balanced;
    if (hints.domains == Domains::cyclic) return striped ? Domains::cyclic : Domains::even;
    if (has_several_servers(hints) && striped) return Domains::cyclic;
    return is_sparse(all, count) ? Domains::balanced : Domains::even;
}

Strategy hinted(Summary const& all) noexcept {
    return all.operation == 1 ? all.hints.write : all.hints.read;
}

/// Why there is nothing to choose; null where there is.
char const* forced(Summary const& all, Strategy& strategy) noexcept {
    strategy = Strategy::independent;
    if (all.bytes == 0) return "every rank's part is contiguous and large enough by itself";
    if (all.cb_buffer_bytes < stripe_bytes_default) return "no memory for staging";
    strategy = hinted(all);
    return strategy == Strategy::automatic ? nullptr : "a hint asks for it";
}

Decision by_rules(Summary const& all, Topology const& topology, PlanLimits const& limits) {
    Decision decision;
    Candidate& way = decision.way;
    char const* const reason = forced(all, way.strategy);
    decision.reason = reason                 ? reason
                      : all.interleaved != 0 ? "ranks interleave in the file"
                                             : "pieces are small";
    if (!reason) way.strategy = Strategy::two_phase;
    if (way.strategy == Strategy::independent) return decision;
    way.aggregators = static_cast<std::int32_t>(domain_count(all, topology, limits));
    way.window_bytes =
        fitting_window(wished_window_bytes(all.hints, {}), all.hints, all.cb_buffer_bytes);
    way.domains = division(all, topology, way.aggregators);
    way.layers = all.hints.data.layers;
    way.sieve_bytes = all.operation == 1 ? 0 : gap_bytes_default;
    return decision;
}

/// What ranks move for themselves, beside what they leave to the exchange.
Estimate price_independent(Summary const& all, Topology const& topology, PlanLimits const& limits) {
    Workload work = workload_of(all, topology, limits.cores_a_node, limits.key.get());
    Load const& load = all.independent;
    work.bytes = static_cast<double>(load.bytes);
    work.pieces = static_cast<double>(load.pieces);
    work.bytes_most = static_cast<double>(load.bytes_most);
    work.pieces_most = static_cast<double>(load.pieces_most);
    work.span = static_cast<double>(load.span.bytes());
    work.interleaved = false;
    return price(Candidate{}, work, *limits.machine);
}

/// Where the bytes are can matter, and would change the choice if they were all in one place: only
/// then it is worth a reduction to know it.
bool depends_on_weights(Candidate const& chosen, Workload work, MachineProfile const& machine,
                        Freedom const& freedom) {
    if (chosen.domains == Domains::balanced) return true;
    bool const has_holes = !work.covered && work.bytes < work.span;
    if (!has_holes || freedom.aggregators_most <= 1) return false;
    Weights const crowded = Weights::crowded(work.bytes / work.span);
    work.weights = &crowded;
    return choose(work, machine, freedom).candidate != chosen;
}

Decision by_model(Summary const& all, Topology const& topology, PlanLimits const& limits,
                  Weights const* weights) {
    Decision decision;
    decision.priced = true;
    decision.free = hinted(all) == Strategy::automatic;
    char const* const reason = forced(all, decision.way.strategy);
    decision.reason = reason ? reason : "it is estimated to be the fastest";
    if (all.bytes > 0) {
        auto work = workload_of(all, topology, limits.cores_a_node, limits.key.get());
        work.weights = weights;
        Freedom const freedom = freedom_of(all, topology, limits);
        auto const best = choose(work, *limits.machine, freedom);
        decision.needs_weights = weights == nullptr &&
                                 depends_on_weights(best.candidate, work, *limits.machine, freedom);
        decision.way = best.candidate;
        decision.estimate = best.estimate;
    }
    if (all.independent.bytes == 0) return decision;
    Estimate const independent = price_independent(all, topology, limits);
    Estimate& estimate = decision.estimate;
    // The exchange of summaries is one, and the device serves one after the other.
    estimate.total += all.bytes > 0 ? independent.storage : independent.total;
    estimate.storage += independent.storage;
    if (all.bytes == 0) estimate.planning = independent.planning;
    return decision;
}

}  // namespace

Bytes unit_of(Hints const& hints) noexcept {
    return std::max(stripe_bytes_default, hints.stripe_bytes);
}

Bytes cyclic_unit_of(Hints const& hints) noexcept {
    return hints.stripe_bytes > 0 ? unit_of(hints) : cyclic_stripe_bytes;
}

Bytes wished_window_bytes(Hints const& hints, PlanLimits const& limits) noexcept {
    if (hints.window_bytes > 0) return hints.window_bytes;
    if (!limits.machine) return window_bytes_default;
    return std::max(window_bytes(*limits.machine, Direction::write),
                    window_bytes(*limits.machine, Direction::read));
}

Bytes fitting_window(Bytes wanted, Hints const& hints, Bytes memory) noexcept {
    constexpr Bytes page = stripe_bytes_default;
    Bytes const stripe = hints.stripe_bytes;
    if (stripe > 0 && stripe < wanted) wanted = wanted / stripe * stripe;
    wanted = round_up(std::max<Bytes>(wanted, 1), page);
    return std::max(page, std::min(wanted, memory / page * page));
}

Scope scope_of(Hints const& hints, Topology const& topology, PlanLimits const& limits) noexcept {
    bool const several = topology.node_count() > 1;
    // Nodes exchange what they cover in any case: only on one node a proof saves anything.
    return {several ? wished_window_bytes(hints, {}) : 0, several ? nullptr : limits.key.get(),
            several || limits.machine};
}

Freedom freedom_of(Summary const& all, Topology const& topology, PlanLimits const& limits) {
    Freedom freedom{all.hints, 1, 0, can_use_groups(all, topology)};
    Domains& domains = freedom.hints.domains;
    if (domains == Domains::automatic && has_several_servers(all.hints)) domains = Domains::cyclic;
    if (domains == Domains::cyclic && !is_striped(all)) domains = Domains::even;
    std::int64_t const wanted =
        all.hints.aggregator_count > 0 ? all.hints.aggregator_count : limits.aggregator_count;
    freedom.aggregators_most = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(wanted, 1, topology.aggregator_count_max()));
    if (all.cb_buffer_bytes >= stripe_bytes_default) freedom.window_most = all.cb_buffer_bytes;
    return freedom;
}

Decision decide(Summary const& all, Topology const& topology, PlanLimits const& limits,
                Weights const* weights) {
    if (limits.machine) return by_model(all, topology, limits, weights);
    Decision decision = by_rules(all, topology, limits);
    bool const balanced = decision.way.domains == Domains::balanced;
    decision.needs_weights = balanced && weights == nullptr;
    return decision;
}

}  // namespace sluice
