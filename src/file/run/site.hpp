// Where operations run: one rank's place in one stream, with all ports it may use. Owned by api/ or
// by the simulation; outlives the stream.
#pragma once
#include "file/run/window.hpp"
#include "schedule/port.hpp"

#include <functional>

namespace sluice {

struct Site {
    Topology const* topology = nullptr;
    Rank self = 0;
    std::int32_t stream = 0;  ///< Number of the stream in its communicator: part of the tag.
    NodeWindow window;
    Bells* bells = nullptr;
    Network* network = nullptr;
    Clock* clock = nullptr;
    Work* work = nullptr;  ///< Null: nobody asks.
    PlanLimits limits;
    /// Reserves staging memory for this node; returns the bytes of a slot, 0 when there is none.
    /// Called by the node's leader only.
    std::function<Bytes(std::int32_t aggregators, Bytes slot_bytes)> reserve;
    /// Before this rank touches slots, whose memory the leader reserved.
    std::function<void(std::int32_t aggregators, Bytes slot_bytes)> open_slots;

    [[nodiscard]] Node node() const noexcept { return topology->node_of(self); }
    [[nodiscard]] Rank local() const noexcept { return topology->local_index(self); }
    [[nodiscard]] Rank local_count() const noexcept { return topology->local_count(node()); }
    [[nodiscard]] bool leads() const noexcept { return local() == 0; }
};

}  // namespace sluice
