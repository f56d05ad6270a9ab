// How one window is priced with one layer and with two. See exchange_choice.hpp.
#include "file/plan/exchange_choice.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

/// Messages that the aggregators of a node take at once, together, at most.
constexpr std::int32_t node_messages = 32;

/// Aggregators are spread over the nodes first.
std::int32_t aggregators_a_node(Topology const& topology, std::int32_t aggregators) noexcept {
    return (aggregators + topology.node_count() - 1) / topology.node_count();
}

/// As few as keep the network busy while the next message is asked for: more would only meet on
/// the same cards, and wait in queues. Those of a node share one card.
Throttle throttle_of(double message_bytes, std::int32_t on_a_node, Costs const& costs) noexcept {
    double const pause = costs.start + 2 * costs.wake;
    double const each = costs.start + message_bytes * costs.byte;
    auto const enough = 1 + static_cast<std::int32_t>(std::min(100.0, std::ceil(pause / each)));
    return {std::max(2, std::min(enough, node_messages / on_a_node)), 0};
}

}  // namespace

Traffic traffic_of(Summary const& all, Topology const& topology, std::int32_t aggregators,
                   Bytes window_bytes) noexcept {
    double const nodes = topology.node_count(), ranks = topology.rank_count();
    auto const window = static_cast<double>(window_bytes);
    double const blocks = std::max(1.0, static_cast<double>(all.span.bytes()) / window);
    double const away = (nodes - 1) / nodes;
    Traffic traffic;
    traffic.ranks = std::min(ranks, static_cast<double>(all.touched) / blocks) * away;
    // Ranks that share a window are often neighbours, and so on one node, but not always.
    traffic.nodes = std::min(nodes - 1, traffic.ranks / std::sqrt(ranks / nodes));
    traffic.bytes = std::min(window, static_cast<double>(all.bytes) / blocks) * away;
    traffic.own_copy = traffic.bytes * aggregators / ranks;
    return traffic;
}

double window_seconds(Traffic const& traffic, Layers layers, Throttle throttle,
                      Costs const& costs) noexcept {
    bool const gathered = layers == Layers::two;
    double const messages = gathered ? traffic.nodes : traffic.ranks;
    double const waiting =
        throttle.messages > 0 ? std::min<double>(messages, throttle.messages) : messages;
    // A rank packs what it sends; a local aggregator what its whole node does, after all have
    // placed it.
    double const packed = traffic.bytes / std::max(1.0, traffic.nodes);
    double const packing = (gathered ? packed + traffic.own_copy : traffic.own_copy);
    double const gathering = packing * costs.copy_byte + (gathered ? costs.wake : 0);
    return messages * (costs.start + waiting * costs.queue) + traffic.bytes * costs.byte +
           gathering;
}

DeliveryChoice choose_delivery(Summary const& all, Topology const& topology,
                               std::int32_t aggregators, Bytes window_bytes,
                               Costs const& costs) noexcept {
    DeliveryChoice choice{all.hints.metadata, all.hints.data};
    Traffic const traffic = traffic_of(all, topology, aggregators, window_bytes);
    std::int32_t const on_a_node = aggregators_a_node(topology, aggregators);
    auto const throttle = [&](double messages, Throttle given) {
        if (given.messages >= 0) return given;
        return throttle_of(traffic.bytes / std::max(1.0, messages), on_a_node, costs);
    };
    Throttle const given = choice.data.throttle;
    Throttle const of_one = throttle(traffic.ranks, given), of_two = throttle(traffic.nodes, given);
    bool const by_hint = choice.data.layers != Layers::automatic;
    double const one = window_seconds(traffic, Layers::one, of_one, costs);
    double const two = window_seconds(traffic, Layers::two, of_two, costs);
    choice.reason = by_hint      ? "a hint says so"
                    : one <= two ? "few ranks of a node share a window: each sends for itself"
                                 : "many ranks of a node share a window: it sends for them";
    if (!by_hint) choice.data.layers = one <= two ? Layers::one : Layers::two;
    choice.data.throttle = choice.data.layers == Layers::one ? of_one : of_two;
    if (choice.metadata.layers == Layers::automatic) choice.metadata.layers = Layers::two;
    for (Delivery* const each : {&choice.metadata, &choice.data}) {
        if (each->kernel == Kernel::automatic) each->kernel = Kernel::even;
        if (each->throttle.messages < 0) each->throttle = choice.data.throttle;
        if (each->kernel != Kernel::pairwise) continue;
        each->synchronous = 1;  // As with MPI_Sendrecv.
        each->throttle = {1, 0};
    }
    return choice;
}

}  // namespace sluice
