// A RankWatch notices that a rank of a communicator is lost: its process on this node has ended, or
// messages between nodes say so. It then gives up this rank's messages, so that all ranks hear of
// it.
#pragma once
#include "base/topology.hpp"
#include "schedule/port.hpp"
#include "system/process_watch.hpp"

namespace sluice {

class RankWatch {
public:
    /// `of_node`: processes of the node's ranks, by local index. `network`: between nodes, or null.
    RankWatch(std::vector<ProcessAddress> of_node, Topology const& topology, Rank self,
              Network* network)
        : processes_(std::move(of_node)),
          topology_(topology),
          self_(self),
          network_(network) {}

    /// An error once a rank is lost, and the same one from then on. Ask while something is waited
    /// for; `now`: of a steady clock.
    Error lost_rank(double now);
    [[nodiscard]] bool has_lost_rank() const noexcept { return static_cast<bool>(lost_); }

    /// When a rank of any communicator is found to be lost, the thread that noticed it calls `act`
    /// before operations end.
    static void before_going_on(void (*act)());

private:
    [[nodiscard]] bool hears_of_lost_peer(double now);

    ProcessWatch processes_;
    Topology const& topology_;
    Rank self_;
    Network* network_;
    Error lost_;
    double heard_at_ = 0;  ///< When messages between nodes were last looked at.
};

}  // namespace sluice
