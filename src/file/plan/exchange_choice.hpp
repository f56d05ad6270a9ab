// This function chooses the kernels that bring bytes from node to node. It knows the merged summary
// and what messages cost on this machine. It is pure, and all ranks get the same result.
#pragma once
#include "base/topology.hpp"
#include "file/plan/summary.hpp"

namespace sluice {

/// What messages and copies cost, in seconds; equal on all ranks.
struct Costs {
    double start = 2e-6;       ///< Of a message between nodes, whatever its length.
    double byte = 2e-10;       ///< For each byte of it.
    double queue = 5e-8;       ///< For each request that waits at the receiver, by each message.
    double copy_byte = 1e-10;  ///< Of a copy in memory.
    double wake = 3e-6;  ///< Until a rank goes on after another of its node has done its part.
    bool operator==(Costs const&) const = default;
};

/// Estimated traffic of one window at one aggregator, from the merged summary.
struct Traffic {
    double ranks = 0;     ///< Of other nodes, with bytes in the window.
    double nodes = 0;     ///< Other nodes, with bytes in it: a guess between one and all.
    double bytes = 0;     ///< That come from other nodes.
    double rounds = 1;    ///< Of the aggregator.
    double own_copy = 0;  ///< Of these, what one rank copies.
};

struct DeliveryChoice {
    Delivery metadata, data;  ///< Each with its throttle.
    char const* reason = "";
};

[[nodiscard]] Traffic traffic_of(Summary const& all, Topology const& topology,
                                 std::int32_t aggregators, Bytes window_bytes) noexcept;

/// Seconds that the aggregator needs for one window with this choice: for comparisons only.
[[nodiscard]] double window_seconds(Traffic const& traffic, Layers layers, Throttle throttle,
                                    Costs const& costs) noexcept;

/// Obeys the hints; decides what they leave open. With more than one node.
[[nodiscard]] DeliveryChoice choose_delivery(Summary const& all, Topology const& topology,
                                             std::int32_t aggregators, Bytes window_bytes,
                                             Costs const& costs) noexcept;

}  // namespace sluice
