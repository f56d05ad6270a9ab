// Staging memory: how much a window may take on a node. Pure. Used by
// mpi/communicator/team.cpp, which owns the memory, and by `sluice explain`.
#pragma once
#include "base/topology.hpp"

#include <algorithm>

namespace sluice {

/// Windows of one aggregator that are under way at once. The same for all streams and nodes: slot =
/// cycle mod slot_count is part of the protocol.
inline constexpr std::int32_t slots_per_aggregator = 4;
inline constexpr std::int64_t slot_bytes_most = std::int64_t{4} << 20, slot_bytes_least = 4096;
/// Without a hint no node has more; nor more than a rank has cores.
inline constexpr std::int32_t aggregators_a_node = 4;

/// What all slots of so many aggregators take on each node, with their coverages.
[[nodiscard]] constexpr std::int64_t staging_bytes(std::int32_t aggregators,
                                                   std::int64_t slot_bytes) noexcept {
    return std::int64_t{aggregators} * slots_per_aggregator * (slot_bytes + slot_bytes / 8);
}

/// The next size to try where a slot is too large; 0 behind the least.
[[nodiscard]] constexpr std::int64_t smaller_slot(std::int64_t slot_bytes) noexcept {
    return slot_bytes / 2 / slot_bytes_least * slot_bytes_least;
}

/// The largest slot up to `wish` for which `memory` is enough; the least one in any case.
[[nodiscard]] constexpr std::int64_t
slot_bytes_within(std::int64_t memory, std::int32_t aggregators, std::int64_t wish) noexcept {
    std::int64_t bytes = std::clamp(wish, slot_bytes_least, slot_bytes_most);
    bytes = bytes / slot_bytes_least * slot_bytes_least;
    while (bytes > slot_bytes_least && staging_bytes(aggregators, bytes) > memory)
        bytes = smaller_slot(bytes);
    return bytes;
}

/// Aggregators when no hint says otherwise; `cores` of a rank.
[[nodiscard]] inline std::int32_t aggregators_usual(Topology const& topology,
                                                    std::int32_t cores) noexcept {
    return std::min(std::min(cores, aggregators_a_node) * topology.node_count(),
                    topology.aggregator_count_max());
}

}  // namespace sluice
