// An ExecutionContext is one rank's place in one operation queue: topology, shared memory, and the
// ports that operations may use. The communicator's team or the simulation owns it, and it outlives
// the operation queue.
#pragma once
#include "events/tracer.hpp"
#include "file/run/shared_region.hpp"
#include "schedule/port.hpp"

#include <functional>

namespace sluice {

/// What an operation may need of its node.
struct StagingWish {
    std::int64_t operation = 0;
    std::int32_t aggregators = 1;  ///< At most.
    Bytes cb_buffer_bytes = 0;
    /// Memory for all rounds that can be under way at once, now: smaller windows are better.
    bool whole = false;
};

/// What there is.
struct Staging {
    Bytes cb_buffer_bytes = 0;  ///< 0: nothing.
    bool whole = false;
};

struct ExecutionContext {
    Topology const* topology = nullptr;
    Rank self = 0;
    std::int32_t rank_in_job = 0;  ///< The same rank, for people.
    std::int32_t queue =
        0;  ///< Number of the operation queue in its communicator: part of the tag.
    SharedRegion region;
    Doorbells* doorbells = nullptr;
    Network* network = nullptr;
    Clock* clock = nullptr;
    Work* work = nullptr;              ///< Null: nobody asks.
    FileTrace const* trace = nullptr;  ///< The same.
    PlanLimits limits;
    /// Reserves staging memory for this node, as much as no operation can do without. Called by
    /// the node's leader only.
    std::function<Staging(StagingWish const& wish)> reserve;
    /// Reserves memory of one collective buffer, which this rank has taken, for windows of so many
    /// bytes; false where there is none.
    std::function<bool(std::int32_t cb_buffer, Bytes window_bytes)> back_cb_buffer;
    /// Before this rank touches a collective buffer, whose memory is reserved.
    std::function<void(std::int32_t cb_buffer, Bytes window_bytes)> open_cb_buffer;

    /// An error once a rank of the node has ended: operations then end with it. `now`: the clock's.
    /// Null: nobody watches.
    std::function<Error(double now)> lost_rank;

    [[nodiscard]] Node node() const noexcept { return topology->node_of(self); }
    [[nodiscard]] Rank local() const noexcept { return topology->local_index(self); }
    [[nodiscard]] Rank local_count() const noexcept { return topology->local_count(node()); }
    [[nodiscard]] bool leads() const noexcept { return local() == 0; }

    /// Wakes the ranks of the node that marked themselves as waiting. Whoever still waits after a
    /// ring has itself marked again.
    void ring(std::uint64_t waiters) const {
        for (Rank other = 0; other < local_count(); ++other) {
            bool const waits = (waiters >> (other % 64) & 1) != 0;
            if (waits && other != local()) doorbells->ring(other);
        }
    }
};

}  // namespace sluice
