// How ranks are grouped by node, and aggregators placed. See topology.hpp.
#include "base/topology.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sluice {

Topology::Topology(std::vector<std::int32_t> const& names)
    : node_(names.size()),
      local_(names.size()) {
    std::map<std::int32_t, Node> number;
    std::vector<std::vector<Rank>> members;
    for (std::size_t r = 0; r < names.size(); ++r) {
        auto const [found, added] = number.try_emplace(names[r], static_cast<Node>(members.size()));
        if (added) members.emplace_back();
        auto& ranks = members[index(found->second)];
        node_[r] = found->second;
        local_[r] = static_cast<Rank>(ranks.size());
        ranks.push_back(static_cast<Rank>(r));
    }
    for (auto const& ranks : members) {
        first_.push_back(static_cast<Rank>(ranks_.size()));
        ranks_.insert(ranks_.end(), ranks.begin(), ranks.end());
    }
    first_.push_back(static_cast<Rank>(ranks_.size()));
    spread();
}

/// Nodes may differ in size: goes over them again and again, leaving out those that are used up.
/// The first ranks of the list are the aggregators.
void Topology::spread() {
    place_.resize(node_.size());
    Rank next = 0;
    for (Rank turn = 0; next < rank_count(); ++turn) {
        for (Node node = 0; node < node_count(); ++node) {
            if (turn >= local_count(node)) continue;
            Rank const rank = rank_at(node, turn);
            if (next < aggregators_at_most) aggregators_.push_back(rank);
            place_[index(rank)] = next++;
        }
    }
}

Topology Topology::with_aggregators(std::vector<Rank> ranks) const {
    Topology other = *this;
    other.aggregators_ = std::move(ranks);
    other.placed_ = true;
    return other;
}

Rank Topology::local_count(Node node) const noexcept {
    return first_[index(node) + 1] - first_[index(node)];
}

Rank Topology::rank_at(Node node, Rank local) const noexcept {
    return ranks_[index(first_[index(node)] + local)];
}

std::int32_t Topology::aggregator_count_max() const noexcept {
    return static_cast<std::int32_t>(aggregators_.size());
}

Rank Topology::local_aggregator(Node node, std::int32_t a, Rank local_aggregators) const noexcept {
    Rank const aggregator_rank = aggregator(a), locals = local_count(node);
    if (node_of(aggregator_rank) == node) return aggregator_rank;
    if (local_aggregators <= 0 || local_aggregators >= locals) return rank_at(node, a % locals);
    std::int64_t const turn = a % local_aggregators;
    return rank_at(node, static_cast<Rank>(turn * locals / local_aggregators));
}

}  // namespace sluice
