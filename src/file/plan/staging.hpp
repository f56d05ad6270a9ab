// These pure functions say how much staging memory a window may take on a node.
// file/run/staging_memory.cpp, which shares it out, and `sluice explain` call them.
#pragma once
#include "base/topology.hpp"

#include <algorithm>

namespace sluice {

/// Windows of one aggregator that are under way at once. The same for all operation queues and
/// nodes: a round begins when the fourth before it has ended, which is part of the protocol.
inline constexpr std::int32_t cb_buffers_per_aggregator = 4;
/// Windows are made smaller only where a node has no memory for so many: with fewer under way
/// copies and transfers overlap less, and with more of them they do not overlap better.
inline constexpr std::int32_t cb_buffers_least = 8;
/// Of one operation queue on one node: more windows under way at once keep no device busier, and
/// their addresses are bounded by it.
inline constexpr std::int32_t cb_buffers_most = 256;
inline constexpr std::int64_t cb_buffer_bytes_most = std::int64_t{4} << 20,
                              cb_buffer_bytes_least = 4096;
/// Without a hint no node has more; nor more than a rank has cores.
inline constexpr std::int32_t aggregators_a_node = 4;

/// What so many collective buffers take, with their coverages.
[[nodiscard]] constexpr std::int64_t staging_bytes(std::int64_t cb_buffers,
                                                   std::int64_t cb_buffer_bytes) noexcept {
    return cb_buffers * (cb_buffer_bytes + cb_buffer_bytes / 8);
}

/// For all rounds that can be under way at once, and the last resort: nothing waits for memory.
[[nodiscard]] constexpr std::int64_t cb_buffers_of(std::int32_t aggregators) noexcept {
    return std::int64_t{aggregators} * cb_buffers_per_aggregator + 1;
}

/// For which a node must have memory before windows are made smaller.
[[nodiscard]] constexpr std::int64_t cb_buffers_needed(std::int32_t aggregators) noexcept {
    return std::min<std::int64_t>(cb_buffers_of(aggregators), cb_buffers_least + 1);
}

/// The next size to try where a collective buffer is too large; 0 behind the least.
[[nodiscard]] constexpr std::int64_t smaller_cb_buffer(std::int64_t cb_buffer_bytes) noexcept {
    return cb_buffer_bytes / 2 / cb_buffer_bytes_least * cb_buffer_bytes_least;
}

/// The most that one operation takes on a node.
[[nodiscard]] constexpr std::int64_t cb_buffers_within(std::int64_t memory,
                                                       std::int32_t aggregators,
                                                       std::int64_t cb_buffer_bytes) noexcept {
    auto const room = std::max<std::int64_t>(1, memory / staging_bytes(1, cb_buffer_bytes));
    return std::min({cb_buffers_of(aggregators), room, std::int64_t{cb_buffers_most}});
}

/// What is tried first for windows of so many bytes.
[[nodiscard]] constexpr std::int64_t usual_cb_buffer(std::int64_t wish) noexcept {
    return std::clamp(wish, cb_buffer_bytes_least, cb_buffer_bytes_most) / cb_buffer_bytes_least *
           cb_buffer_bytes_least;
}

/// The largest collective buffer up to `wish` for which `memory` is enough, where `cb_buffers` are
/// needed; the least one in any case.
[[nodiscard]] constexpr std::int64_t
cb_buffer_bytes_within(std::int64_t memory, std::int64_t cb_buffers, std::int64_t wish) noexcept {
    std::int64_t bytes = usual_cb_buffer(wish);
    while (bytes > cb_buffer_bytes_least && staging_bytes(cb_buffers, bytes) > memory)
        bytes = smaller_cb_buffer(bytes);
    return bytes;
}

/// Aggregators when no hint says otherwise; `cores` of a rank.
[[nodiscard]] inline std::int32_t aggregators_usual(Topology const& topology,
                                                    std::int32_t cores) noexcept {
    return std::min(std::min(cores, aggregators_a_node) * topology.node_count(),
                    topology.aggregator_count_max());
}

/// Servers for a new file when nobody says how many: as many as aggregators may write it, so that
/// each of them has one of its own.
[[nodiscard]] constexpr std::int32_t servers_usual(Rank ranks, std::int32_t nodes) noexcept {
    return std::min(ranks, aggregators_a_node * nodes);
}

}  // namespace sluice
