// An ExecutionContext is one rank's place in one operation queue: topology, shared memory, and the
// ports that operations may use. The communicator's team or the simulation owns it, and it outlives
// the operation queue.
#pragma once
#include "file/run/shared_region.hpp"
#include "schedule/port.hpp"
#include "trace/tracer.hpp"

#include <functional>

namespace sluice {

struct ExecutionContext {
    Topology const* topology = nullptr;
    Rank self = 0;
    std::int32_t queue =
        0;  ///< Number of the operation queue in its communicator: part of the tag.
    SharedRegion window;
    Doorbells* doorbells = nullptr;
    Network* network = nullptr;
    Clock* clock = nullptr;
    Work* work = nullptr;              ///< Null: nobody asks.
    FileTrace const* trace = nullptr;  ///< The same.
    PlanLimits limits;
    /// Reserves staging memory for this node; returns the bytes of a collective buffer, 0 when
    /// there is none. Called by the node's leader only.
    std::function<Bytes(std::int32_t aggregators, Bytes cb_buffer_bytes)> reserve;
    /// Before this rank touches collective buffers, whose memory the leader reserved.
    std::function<void(std::int32_t aggregators, Bytes cb_buffer_bytes)> open_cb_buffers;

    /// An error once a rank of the node has ended: operations then end with it. `now`: the clock's.
    /// Null: nobody watches.
    std::function<Error(double now)> lost_rank;

    [[nodiscard]] Node node() const noexcept { return topology->node_of(self); }
    [[nodiscard]] Rank local() const noexcept { return topology->local_index(self); }
    [[nodiscard]] Rank local_count() const noexcept { return topology->local_count(node()); }
    [[nodiscard]] bool leads() const noexcept { return local() == 0; }
};

}  // namespace sluice
