// Reductions in which a rank gets the elements that its result needs from those who brought them.
#include "collective/combiner.hpp"

namespace sluice {
namespace {

/// What this rank's result is made of, and where it has to be.
struct Wanted {
    Stretch what;             ///< Empty: it gets none.
    Place result;             ///< A base.
    Rank begin = 0, end = 0;  ///< Whose elements.
};

Wanted wanted_of(Combiner const& combiner) {
    Part const& part = combiner.part();
    Rank const self = part.self;
    switch (part.call.kind) {
    case CollectiveKind::reduce:
        if (!part.is_root()) return {};
        return {combiner.all(), in_output, 0, part.ranks};
    case CollectiveKind::scan:
        return {combiner.all(), in_output, 0, self + 1};
    case CollectiveKind::exscan:
        return {combiner.all(), in_output, 0, self};
    case CollectiveKind::allreduce:
        return {combiner.all(), in_output, 0, part.ranks};
    default: {
        Stretch const own = combiner.block(self);
        return {own, in_output + -own.begin, 0, part.ranks};
    }
    }
}

/// Whether one rank alone combines these elements, so that no other one has to do it alike.
bool may_reorder(Combiner const& combiner) noexcept {
    return combiner.order() == Order::any && combiner.part().call.kind != CollectiveKind::allreduce;
}

/// From right to left. The first becomes the place of the result: it should be one that comes from
/// elsewhere, or lies there already; so no copy is needed.
std::vector<Rank> order_of(Combiner const& combiner, Wanted const& wanted) {
    std::vector<Rank> order;
    for (Rank r = wanted.end; r-- > wanted.begin;) order.push_back(r);
    auto const own = std::find(order.begin(), order.end(), combiner.part().self);
    if (!may_reorder(combiner) || own == order.end() || order.size() < 2) return order;
    if (combiner.own().writable) {
        std::rotate(order.begin(), own, own + 1);
    } else if (own == order.begin()) {
        std::swap(order[0], order[1]);
    }
    return order;
}

/// Where to combine: in the output, unless there is something else that is still needed.
Place workplace(Combiner& combiner, Wanted const& wanted, Rank first) {
    Part const& part = combiner.part();
    bool const is_free = !part.in_place() || (first == part.self && combiner.own().writable);
    return is_free ? wanted.result : combiner.scratch(wanted.what);
}

using Id = CollectiveBuilder::Id;

Id send_block(Combiner& combiner, Rank to, Id after = CollectiveBuilder::nothing) {
    bool const all = combiner.part().call.kind == CollectiveKind::allreduce;
    return combiner.send(to, combiner.own().base, all ? combiner.all() : combiner.block(to), after);
}

/// Those who want this rank's elements, the nearest first.
void send_all(Combiner& combiner) {
    Part const& part = combiner.part();
    switch (part.call.kind) {
    case CollectiveKind::reduce:
        if (!part.is_root()) combiner.send(part.call.root, combiner.own().base, combiner.all());
        return;
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
        for (Rank r = part.self + 1; r < part.ranks; ++r) {
            combiner.send(r, combiner.own().base, combiner.all());
        }
        return;
    default:
        for (Rank i = 1; i < part.ranks; ++i) send_block(combiner, part.rank_after(i));
    }
}

}  // namespace

void add_linear_reduction(Combiner& combiner) {
    send_all(combiner);
    Wanted const wanted = wanted_of(combiner);
    auto const order = order_of(combiner, wanted);
    if (order.empty()) return;
    RightToLeft sum(combiner, workplace(combiner, wanted, order.front()), wanted.what);
    for (Rank const r : order) sum.add(r);
    combiner.copy(sum.base(), wanted.result, wanted.what);
}

/// Blocks come from the ranks below, from near to far, and then from those above, from far to near.
/// Both sequences are from right to left; without an order of ranks they are one.
void add_pairwise_reduction(Combiner& combiner) {
    Part const& part = combiner.part();
    Rank const self = part.self;
    Wanted const wanted = wanted_of(combiner);
    bool const ordered = combiner.order() == Order::of_ranks;
    bool const one = !ordered || self + 1 == part.ranks;  // Nobody above: one sequence.
    RightToLeft upper(combiner, workplace(combiner, wanted, -1), wanted.what);
    RightToLeft lower(combiner,
                      ordered && !one && self > 0 ? combiner.scratch(wanted.what) : Place{},
                      wanted.what);
    if (ordered && one) upper.add(self);
    if (ordered && !one && self > 0) lower.add(self);
    Id sent = CollectiveBuilder::nothing;
    for (Rank i = 1; i < part.ranks; ++i) {
        sent = send_block(combiner, part.rank_after(i), sent);
        Rank const from = part.rank_after(-i);
        (one || from > self ? upper : lower).add(from);
        if (!ordered && i == 1) upper.add(self);
    }
    if (ordered && !one) {
        combiner.reduce(lower.empty() ? combiner.own().base : lower.base(), upper.base(),
                        wanted.what);
    }
    combiner.copy(upper.base(), wanted.result, wanted.what);
}

}  // namespace sluice
