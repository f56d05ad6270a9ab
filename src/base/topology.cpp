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
/// The aggregators are the ranks in the order of the list.
void Topology::spread() {
    place_.resize(node_.size());
    Rank next = 0;
    for (Rank turn = 0; next < rank_count(); ++turn) {
        for (Node node = 0; node < node_count(); ++node) {
            if (turn >= local_count(node)) continue;
            Rank const rank = rank_at(node, turn);
            aggregators_.push_back(rank);
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

Topology Topology::divided(Rank local_aggregators) const {
    std::int64_t const nodes = node_count();
    std::vector<std::int32_t> names(node_.size());
    for (Rank rank = 0; rank < rank_count(); ++rank) {
        Node const node = node_of(rank);
        Rank const ranks = local_count(node);
        auto const before = [&](std::int64_t n) { return n * local_aggregators / nodes; };
        auto const groups = std::clamp<std::int64_t>(before(node + 1) - before(node), 1, ranks);
        std::int64_t const group = local_index(rank) * groups / ranks;
        // Named by its first rank.
        names[index(rank)] =
            rank_at(node, static_cast<Rank>((group * ranks + groups - 1) / groups));
    }
    Topology other(names);
    other.place_ = place_;
    other.aggregators_ = aggregators_;
    other.placed_ = placed_;
    other.divided_ = true;
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

Rank Topology::local_aggregator(Node node, std::int32_t a) const noexcept {
    if (node_of(aggregator(a)) == node) return aggregator(a);
    return rank_at(node, divided_ ? 0 : a % local_count(node));
}

}  // namespace sluice
