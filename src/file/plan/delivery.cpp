// The order of each kernel as arithmetic. See delivery.hpp.
#include "file/plan/delivery.hpp"

#include "file/plan/words.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {

std::int64_t balanced_step(Rank place, Rank ranks, std::int32_t index,
                           std::int32_t count) noexcept {
    // The first `larger` receivers begin groups of one rank more than the others.
    Rank const larger = ranks % count, group = ranks / count;
    Rank const first = index * group + std::min<Rank>(index, larger);
    return (place - first + ranks) % ranks;
}

std::int64_t delivery_step(Delivery delivery, Topology const& topology, Rank sender, std::int32_t a,
                           std::int32_t count) noexcept {
    Rank const receiver = topology.aggregator(a);
    // With two layers nodes send: the orders are those of as many ranks as there are nodes.
    bool const nodes = delivery.layers == Layers::two;
    std::int32_t const senders = nodes ? topology.node_count() : topology.rank_count();
    std::int32_t const from = nodes ? topology.node_of(sender) : sender;
    std::int32_t const to = nodes ? topology.node_of(receiver) : receiver;
    bool const by_place = !nodes && delivery.list == RankList::nodes;
    switch (delivery.kernel) {
    case Kernel::pairwise:
        return from ^ to;
    case Kernel::spread_out:
        return (from - to + senders) % senders;
    case Kernel::balanced:
        // With as many receivers as nodes, or more, they are on all nodes: evenly spread anyway.
        if (nodes && count >= senders) return (from - to + senders) % senders;
        return balanced_step(by_place ? topology.spread_place(sender) : from, senders, a, count);
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

char const* describe(Kernel kernel) noexcept {
    switch (kernel) {
    case Kernel::automatic:
        return "auto";
    case Kernel::ascending:
        return "ascending";
    case Kernel::pairwise:
        return "pairwise";
    case Kernel::spread_out:
        return "spread-out";
    case Kernel::balanced:
        return "balanced";
    }
    return "?";
}

std::string describe(Delivery delivery) {
    std::string text = describe(delivery.kernel);
    if (delivery.layers != Layers::automatic) {
        text = (delivery.layers == Layers::one ? "one-layer," : "two-layer,") + text;
    }
    if (delivery.list == RankList::ranks) text += ",by-rank";
    if (delivery.synchronous != 0) text += ",synchronous";
    return text;
}

std::string describe(Throttle throttle) {
    if (throttle.messages == Throttle::automatic) return "auto";
    return std::to_string(throttle.messages) + (throttle.batches != 0 ? ",batches" : "");
}

std::optional<Delivery> parse_delivery(std::string const& text) {
    Delivery delivery;
    bool const understood = for_each_word(text, [&](std::string_view word) {
        for (auto const kernel : {Kernel::automatic, Kernel::ascending, Kernel::pairwise,
                                  Kernel::spread_out, Kernel::balanced}) {
            if (word != describe(kernel)) continue;
            delivery.kernel = kernel;
            return true;
        }
        if (word == "one-layer")
            delivery.layers = Layers::one;
        else if (word == "two-layer")
            delivery.layers = Layers::two;
        else if (word == "by-rank")
            delivery.list = RankList::ranks;
        else if (word == "synchronous")
            delivery.synchronous = 1;
        else
            return false;
        return true;
    });
    return understood ? std::optional(delivery) : std::nullopt;
}

std::optional<Throttle> parse_throttle(std::string const& text) {
    Throttle throttle;
    bool const understood = for_each_word(text, [&](std::string_view word) {
        if (word == "auto") return true;
        if (word == "batches" || word == "sliding") {
            throttle.batches = word == "batches" ? 1 : 0;
            return true;
        }
        auto const [rest, error] =
            std::from_chars(word.data(), word.data() + word.size(), throttle.messages);
        return error == std::errc{} && rest == word.data() + word.size() && throttle.messages >= 0;
    });
    return understood ? std::optional(throttle) : std::nullopt;
}

}  // namespace sluice
