// Prefix reductions: of the ranks up to this one (scan), or below it (exscan). What comes is always
// of lower ranks, so it is the left operand.
#include "collective/combiner.hpp"

namespace sluice {
namespace {

bool is_exclusive(Combiner const& combiner) noexcept {
    return combiner.part().call.kind == CollectiveKind::exscan;
}

void scan_doubling(Combiner& combiner, std::vector<Taken> const& steps) {
    Part const& part = combiner.part();
    Accumulator sum(combiner, steps, in_output, combiner.order());
    auto next = steps.begin();
    for (std::int64_t distance = 1; distance < part.ranks; distance *= 2) {
        if (part.self + distance < part.ranks) {
            sum.send(static_cast<Rank>(part.self + distance), combiner.all());
        }
        if (next != steps.end()) sum.take(*next++, combiner.all());
    }
    sum.settle(combiner.all());
}

/// The result is what came; what goes on to others has the own elements beside it.
void exscan_doubling(Combiner& combiner, std::vector<Taken> const& steps) {
    Part const& part = combiner.part();
    Stretch const all = combiner.all();
    Place sum = combiner.own().base;
    auto next = steps.begin();
    for (std::int64_t distance = 1; distance < part.ranks; distance *= 2) {
        if (part.self + distance < part.ranks) {
            combiner.send(static_cast<Rank>(part.self + distance), sum, all);
        }
        if (next == steps.end()) continue;
        bool const sends_again = part.self + 2 * distance < part.ranks;
        bool const is_first = next == steps.begin();
        if (is_first && sends_again) {
            Place const base = combiner.scratch(all);
            combiner.copy(sum, base, all);
            sum = base;
        }
        combiner.for_each_segment(all, [&](Stretch segment) {
            Place const came = is_first ? in_output : combiner.slot(segment);
            combiner.recv(next->from, came, segment);
            if (!is_first) combiner.reduce(came, in_output, segment);
            if (sends_again) combiner.reduce(came, sum, segment);
        });
        ++next;
    }
}

}  // namespace

/// After the step at distance d a rank has combined 2 d ranks, up to itself.
void add_doubling_scan(Combiner& combiner) {
    Part const& part = combiner.part();
    std::vector<Taken> steps;
    for (std::int64_t distance = 1; distance <= part.self; distance *= 2) {
        steps.push_back({static_cast<Rank>(part.self - distance), true});
    }
    is_exclusive(combiner) ? exscan_doubling(combiner, steps) : scan_doubling(combiner, steps);
}

void add_chain_scan(Combiner& combiner) {
    Part const& part = combiner.part();
    bool const is_first = part.self == 0, is_last = part.self + 1 == part.ranks;
    Partial const own = combiner.own();
    combiner.for_each_segment(combiner.all(), [&](Stretch segment) {
        Place base = own.base;
        if (is_exclusive(combiner)) {
            if (!is_first && is_last) combiner.recv(part.self - 1, in_output, segment);
            if (!is_first && !is_last) {
                base = combiner.slot(segment);
                combiner.copy(own.base, base, segment);
                combiner.recv_left(part.self - 1, in_output, base, segment);
            }
        } else {
            Accumulator sum(combiner, {}, in_output, combiner.order());
            if (!is_first) sum.take({part.self - 1, true}, segment);
            if (!is_first) base = sum.base();
            combiner.copy(base, in_output, segment);
        }
        if (!is_last) combiner.send(part.self + 1, base, segment);
    });
}

}  // namespace sluice
