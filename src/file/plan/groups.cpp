// How many groups a node has, and which part of the file each gets. See groups.hpp.
#include "file/plan/groups.hpp"

namespace sluice {

Groups make_groups(Topology const& topology, Node node, std::int32_t wanted,
                   std::int32_t aggregators) {
    Groups groups;
    groups.node = node;
    groups.local_count = topology.local_count(node);
    std::int32_t const most = std::min(groups.local_count, topology.aggregator_count_max());
    bool const alone = topology.node_count() == 1;
    std::int32_t const count = std::clamp(wanted > 0 ? wanted : alone ? aggregators : 1, 1, most);
    groups.aggregators_each = std::clamp(aggregators / count, 1, most / count);
    groups.spans.resize(static_cast<std::size_t>(count));
    return groups;
}

std::vector<Span> group_domains(Groups const& groups, Bytes unit) {
    std::vector<Span> domains;
    for (Span const& span : groups.spans) {
        auto const end = domains.size() + static_cast<std::size_t>(groups.aggregators_each);
        if (!span.empty()) {
            auto const shares = even_domains(span, groups.aggregators_each, unit);
            domains.insert(domains.end(), shares.begin(), shares.end());
        }
        domains.resize(end, Span{span.begin, span.begin});
    }
    return domains;
}

}  // namespace sluice
