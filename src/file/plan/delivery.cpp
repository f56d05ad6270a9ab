// The order of each kernel as arithmetic. See delivery.hpp.
#include "file/plan/delivery.hpp"

#include <algorithm>

namespace sluice {

Rank strided_place(Rank rank, Rank ranks, std::int32_t stride) noexcept {
    Rank const first = rank % stride;  // The first ranks % stride residues have one rank more.
    return first * (ranks / stride) + std::min<Rank>(first, ranks % stride) + rank / stride;
}

std::int64_t balanced_step(Rank place, Rank ranks, std::int32_t index,
                           std::int32_t count) noexcept {
    // The first `larger` receivers begin groups of one rank more than the others.
    Rank const larger = ranks % count, group = ranks / count;
    Rank const first = index * group + std::min<Rank>(index, larger);
    return (place - first + ranks) % ranks;
}

std::int64_t even_step(Rank place, Rank ranks, std::int32_t index, std::int32_t count) noexcept {
    auto const first = static_cast<Rank>(std::int64_t{index} * ranks / count);
    return (place - first + ranks) % ranks;
}

std::int64_t delivery_step(Delivery delivery, Topology const& topology, Rank sender, std::int32_t a,
                           std::int32_t count) noexcept {
    // With two layers nodes send: the orders are those of as many ranks as there are nodes.
    bool const nodes = delivery.layers == Layers::two;
    std::int32_t const senders = nodes ? topology.node_count() : topology.rank_count();
    std::int32_t const from = nodes ? topology.node_of(sender) : sender;
    // The balanced orders go by the number of a receiver alone, and there may be more of them than
    // a topology has aggregators.
    auto const to = [&] {
        Rank const receiver = topology.aggregator(a);
        return nodes ? topology.node_of(receiver) : receiver;
    };
    auto const place = [&] {
        if (delivery.stride > 0) return strided_place(from, senders, delivery.stride);
        return nodes ? from : topology.spread_place(sender);
    };
    switch (delivery.kernel) {
    case Kernel::pairwise:
        return from ^ to();
    case Kernel::spread_out:
        return (from - to() + senders) % senders;
    case Kernel::balanced:
    case Kernel::even:
        // With as many receivers as nodes, or more, they are on all nodes: evenly spread anyway.
        if (nodes && count >= senders) return (from - to() + senders) % senders;
        return delivery.kernel == Kernel::even ? even_step(place(), senders, a, count)
                                               : balanced_step(place(), senders, a, count);
    case Kernel::automatic:
    case Kernel::ascending:
        break;
    }
    return from;
}

void sort_by_delivery(std::vector<Rank>& senders, Delivery delivery, Topology const& topology,
                      std::int32_t a, std::int32_t count) {
    std::sort(senders.begin(), senders.end(), [&](Rank left, Rank right) {
        return delivery_step(delivery, topology, left, a, count) <
               delivery_step(delivery, topology, right, a, count);
    });
}

std::vector<std::int32_t> send_order(Delivery delivery, Topology const& topology, Rank sender,
                                     std::int32_t count) {
    std::vector<std::int32_t> order;
    for (std::int32_t a = 0; a < count; ++a) order.push_back(a);
    if (delivery.kernel <= Kernel::ascending) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t left, std::int32_t right) {
        return delivery_step(delivery, topology, sender, left, count) <
               delivery_step(delivery, topology, sender, right, count);
    });
    return order;
}

}  // namespace sluice
