// Prices one window with one layer and with two. See choice.hpp.
#include "core/choice.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Messages that the aggregators of a node take at once, together: enough to keep its network busy
/// while some senders are late, few enough for short queues.
constexpr std::int32_t node_messages = 32;
constexpr std::int32_t messages_at_least = 4;

/// Aggregators are spread over the nodes first.
std::int32_t aggregators_a_node(Topology const& topology, std::int32_t aggregators) noexcept {
    return (aggregators + topology.node_count() - 1) / topology.node_count();
}

Throttle throttle_of(Topology const& topology, std::int32_t aggregators) noexcept {
    std::int32_t const share = node_messages / aggregators_a_node(topology, aggregators);
    return {std::max(messages_at_least, share), 0};
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
    traffic.nodes = std::min(nodes - 1, traffic.ranks);
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
    double const gathering = gathered ? traffic.own_copy * costs.copy_byte + costs.wake : 0;
    return messages * (costs.start + waiting * costs.queue) + traffic.bytes * costs.byte +
           gathering;
}

DeliveryChoice choose_delivery(Summary const& all, Topology const& topology,
                               std::int32_t aggregators, Bytes window_bytes,
                               Costs const& costs) noexcept {
    DeliveryChoice choice{all.hints.metadata, all.hints.data, all.hints.throttle};
    if (choice.throttle.messages < 0) choice.throttle = throttle_of(topology, aggregators);
    Traffic const traffic = traffic_of(all, topology, aggregators, window_bytes);
    bool const by_hint = choice.data.layers != Layers::automatic;
    double const one = window_seconds(traffic, Layers::one, choice.throttle, costs);
    double const two = window_seconds(traffic, Layers::two, choice.throttle, costs);
    choice.reason = by_hint      ? "a hint says so"
                    : one <= two ? "few ranks of a node share a window: each sends for itself"
                                 : "many ranks of a node share a window: it sends for them";
    if (!by_hint) choice.data.layers = one <= two ? Layers::one : Layers::two;
    if (choice.metadata.layers == Layers::automatic) choice.metadata.layers = Layers::two;
    for (Delivery* const each : {&choice.metadata, &choice.data}) {
        if (each->kernel == Kernel::automatic) each->kernel = Kernel::balanced;
    }
    return choice;
}

}  // namespace sluice
