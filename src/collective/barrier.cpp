// Algorithms of barriers: messages without bytes, which are ordered by `after` alone.
#include "collective/parts.hpp"

namespace sluice {
namespace {

using Ids = CollectiveBuilder::Ids;

/// Each step tells the rank 1, 2, 4 ... ahead of all the ranks behind that were heard of so far.
void disseminate(CollectiveBuilder& to, Part const& part) {
    Ids heard;
    for (std::int64_t step = 1; step < part.ranks; step *= 2) {
        auto const distance = static_cast<Rank>(step);
        to.signal(part.rank_after(distance), heard);
        heard.push_back(to.await_signal(part.rank_after(-distance), {}));
    }
}

void tell_root(CollectiveBuilder& to, Part const& part) {
    if (part.self != 0) {
        to.signal(0, {});
        to.await_signal(0, {});
        return;
    }
    Ids heard;
    for (Rank r = 1; r < part.ranks; ++r) heard.push_back(to.await_signal(r, {}));
    for (Rank r = 1; r < part.ranks; ++r) to.signal(r, heard);
}

void climb_tree(CollectiveBuilder& to, Part const& part) {
    BinomialTree const tree(part.self, 0, part.ranks);
    Ids heard;
    tree.for_each_child([&](Rank child) { heard.push_back(to.await_signal(child, {})); });
    if (tree.number() > 0) {
        to.signal(tree.parent(), heard);
        heard = {to.await_signal(tree.parent(), {})};
    }
    tree.for_each_child_down([&](Rank child) { to.signal(child, heard); });
}

}  // namespace

void add_barrier(CollectiveBuilder& to, Part const& part) {
    switch (part.algorithm) {
    case Algorithm::linear:
        return tell_root(to, part);
    case Algorithm::binomial:
        return climb_tree(to, part);
    default:
        return disseminate(to, part);
    }
}

}  // namespace sluice
