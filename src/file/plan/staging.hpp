// These pure functions say how much staging memory a window may take on a node.
// mpi/communicator/team.cpp, which owns the memory, and `sluice explain` call them.
#pragma once
#include "base/topology.hpp"

#include <algorithm>

namespace sluice {

/// Windows of one aggregator that are under way at once. The same for all operation queues and
/// nodes: collective buffer = round mod cb_buffer_count is part of the protocol.
inline constexpr std::int32_t cb_buffers_per_aggregator = 4;
inline constexpr std::int64_t cb_buffer_bytes_most = std::int64_t{4} << 20,
                              cb_buffer_bytes_least = 4096;
/// Without a hint no node has more; nor more than a rank has cores.
inline constexpr std::int32_t aggregators_a_node = 4;

/// What all collective buffers of so many aggregators take on each node, with their coverages.
[[nodiscard]] constexpr std::int64_t staging_bytes(std::int32_t aggregators,
                                                   std::int64_t cb_buffer_bytes) noexcept {
    return std::int64_t{aggregators} * cb_buffers_per_aggregator *
           (cb_buffer_bytes + cb_buffer_bytes / 8);
}

/// The next size to try where a collective buffer is too large; 0 behind the least.
[[nodiscard]] constexpr std::int64_t smaller_cb_buffer(std::int64_t cb_buffer_bytes) noexcept {
    return cb_buffer_bytes / 2 / cb_buffer_bytes_least * cb_buffer_bytes_least;
}

/// The largest collective buffer up to `wish` for which `memory` is enough; the least one in any
/// case.
[[nodiscard]] constexpr std::int64_t
cb_buffer_bytes_within(std::int64_t memory, std::int32_t aggregators, std::int64_t wish) noexcept {
    std::int64_t bytes = std::clamp(wish, cb_buffer_bytes_least, cb_buffer_bytes_most);
    bytes = bytes / cb_buffer_bytes_least * cb_buffer_bytes_least;
    while (bytes > cb_buffer_bytes_least && staging_bytes(aggregators, bytes) > memory)
        bytes = smaller_cb_buffer(bytes);
    return bytes;
}

/// Aggregators when no hint says otherwise; `cores` of a rank.
[[nodiscard]] inline std::int32_t aggregators_usual(Topology const& topology,
                                                    std::int32_t cores) noexcept {
    return std::min(std::min(cores, aggregators_a_node) * topology.node_count(),
                    topology.aggregator_count_max());
}

}  // namespace sluice
