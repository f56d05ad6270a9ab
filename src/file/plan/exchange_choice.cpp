// How one window is priced with one layer and with two. See exchange_choice.hpp.
#include "file/plan/exchange_choice.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

/// Messages that the aggregators of a node take at once, together, at most.
constexpr std::int32_t node_messages = 32;

/// Aggregators are spread over the nodes first.
std::int32_t most_on_a_node(Topology const& topology, std::int32_t aggregators) noexcept {
    return (aggregators + topology.node_count() - 1) / topology.node_count();
}

/// A share of a message's own time that nobody feels.
constexpr double unfelt = 0.05;

/// As many as cost little in queues, and at least as keep the network busy while the next message
/// is asked for. Those of a node's aggregators share one card. Answers of a read go to ranks that
/// wait for others as well: there a queue is felt sooner.
Throttle throttle_of(double messages, double message_bytes, std::int32_t on_a_node, bool reads,
                     Costs const& costs) noexcept {
    double const pause = costs.start + 2 * costs.wake;
    double const each = costs.start + message_bytes * costs.byte;
    double const busy = 1 + std::ceil(pause / each);
    double const felt = reads ? unfelt / 5 : unfelt;
    double const cheap = costs.queue > 0 ? felt * each / costs.queue : messages;
    double const at_most = std::max(2, node_messages / on_a_node);
    double const enough = std::min(std::max({2.0, busy, cheap}), at_most);
    if (enough >= messages) return {Throttle::none, 0};
    return {static_cast<std::int32_t>(enough), 0};
}

/// Short messages leave without their receives, copied once more, and a sender goes on to its next
/// rounds: they wait at the aggregator in a queue that each one that comes has to pass. Sends that
/// end with their receives keep senders back; long ones wait for their receives in any case.
bool would_run_ahead(double messages, double message_bytes, double rounds,
                     Costs const& costs) noexcept {
    constexpr double eager_bytes = 32 * 1024;
    double const each = costs.start + message_bytes * costs.byte;
    double const waiting = messages * rounds / 2;
    double const price = waiting * costs.queue + message_bytes * costs.copy_byte;
    return message_bytes < eager_bytes && price > unfelt * each &&
           messages * price > 2 * costs.wake;
}

/// Early messages of later windows take the aggregator's port before those that its next window
/// waits for, and answers of reads that leave at once are all packed before the first is sent.
/// Sends that end with their receives keep the order of the windows; each window then waits until
/// senders have woken up. That is hidden where its messages take several times as long.
bool would_crowd(Traffic const& traffic, double messages, Costs const& costs) noexcept {
    constexpr double hidden = 9;  // From the drawn machines of `sluice bench exchange --choices`.
    return traffic.nodes > 1 && messages * costs.start > hidden * costs.wake;
}

/// Messages that an aggregator takes at once, at most, where sends end with their receives: more
/// would only wait for its port.
Throttle held_throttle(Throttle chosen) noexcept {
    constexpr std::int32_t held = 4;
    if (chosen.messages == Throttle::none || chosen.messages > held) chosen.messages = held;
    return chosen;
}

/// Claims of a few bytes: a message of each rank of other nodes, or one of each node once its ranks
/// have told theirs.
Layers layers_of_metadata(Topology const& topology, Costs const& costs) noexcept {
    double const nodes = topology.node_count() - 1;
    double const ranks = nodes / topology.node_count() * topology.rank_count();
    auto const seconds = [&](double messages) {
        return messages * (costs.start + messages / 2 * costs.queue);
    };
    return seconds(ranks) < seconds(nodes) + costs.wake ? Layers::one : Layers::two;
}

}  // namespace

Traffic traffic_of(Summary const& all, Topology const& topology, std::int32_t aggregators,
                   Bytes window_bytes) noexcept {
    double const nodes = topology.node_count(), ranks = topology.rank_count();
    auto const window = static_cast<double>(window_bytes);
    double const blocks = std::max(1.0, static_cast<double>(all.span.bytes()) / window);
    double const away = (nodes - 1) / nodes;
    Traffic traffic;
    traffic.rounds = std::max(1.0, blocks / aggregators);
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
        throttle.messages > 0 ? std::min<double>(messages, throttle.messages) : messages / 2;
    // A rank packs what it sends; a local aggregator what its whole node does, after all have
    // placed it.
    double const packed = traffic.bytes / std::max(1.0, traffic.nodes);
    double const packing = (gathered ? packed + traffic.own_copy : traffic.own_copy);
    double const gathering = packing * costs.copy_byte + (gathered ? costs.wake : 0);
    return messages * (costs.start + waiting * costs.queue) + traffic.bytes * costs.byte +
           gathering;
}

namespace {

/// Whether sends of data end with their receives, and the throttle of those that do.
void hold_senders(Delivery& data, Traffic const& traffic, double senders, bool open, bool reads,
                  Costs const& costs) noexcept {
    double const message_bytes = traffic.bytes / std::max(1.0, senders);
    if (would_crowd(traffic, senders, costs)) {
        data.synchronous = 1;
        if (open) data.throttle = held_throttle(data.throttle);
    } else if (!reads && would_run_ahead(senders, message_bytes, traffic.rounds, costs)) {
        data.synchronous = 1;
    }
}

/// What hints leave open of the exchange of data; returns why it has these layers.
char const* choose_data(Delivery& data, Traffic const& traffic, std::int32_t on_a_node, bool reads,
                        Costs const& costs) noexcept {
    auto const throttle = [&](double messages) {
        if (data.throttle.messages >= 0) return data.throttle;
        double const each = traffic.bytes / std::max(1.0, messages);
        return throttle_of(messages, each, on_a_node, reads, costs);
    };
    bool const by_hint = data.layers != Layers::automatic;
    double const one = window_seconds(traffic, Layers::one, throttle(traffic.ranks), costs);
    double const two = window_seconds(traffic, Layers::two, throttle(traffic.nodes), costs);
    if (!by_hint) data.layers = one <= two ? Layers::one : Layers::two;
    double const senders = data.layers == Layers::one ? traffic.ranks : traffic.nodes;
    bool const open = data.throttle.messages < 0;
    data.throttle = throttle(senders);
    if (data.kernel == Kernel::automatic) hold_senders(data, traffic, senders, open, reads, costs);
    return by_hint      ? "a hint says so"
           : one <= two ? "few ranks of a node share a window: each sends for itself"
                        : "many ranks of a node share a window: it sends for them";
}

/// The same of the exchange of claims: short messages, of one round.
void choose_metadata(Delivery& metadata, Topology const& topology, std::int32_t on_a_node,
                     Costs const& costs) noexcept {
    if (metadata.layers == Layers::automatic) metadata.layers = layers_of_metadata(topology, costs);
    double const claimants =
        metadata.layers == Layers::one ? topology.rank_count() : topology.node_count() - 1;
    if (metadata.throttle.messages < 0)
        metadata.throttle = throttle_of(claimants, 0, on_a_node, false, costs);
    if (metadata.kernel == Kernel::automatic && would_run_ahead(claimants, 0, 1, costs))
        metadata.synchronous = 1;
}

}  // namespace

DeliveryChoice choose_delivery(Summary const& all, Topology const& topology,
                               std::int32_t aggregators, Bytes window_bytes,
                               Costs const& costs) noexcept {
    DeliveryChoice choice{all.hints.metadata, all.hints.data};
    std::int32_t const on_a_node = most_on_a_node(topology, aggregators);
    choice.reason = choose_data(choice.data, traffic_of(all, topology, aggregators, window_bytes),
                                on_a_node, all.operation != 1, costs);
    choose_metadata(choice.metadata, topology, on_a_node, costs);
    for (Delivery* const each : {&choice.metadata, &choice.data}) {
        if (each->kernel == Kernel::automatic) each->kernel = Kernel::even;
        if (each->kernel != Kernel::pairwise) continue;
        each->synchronous = 1;  // As with MPI_Sendrecv.
        each->throttle = {1, 0};
    }
    return choice;
}

}  // namespace sluice
