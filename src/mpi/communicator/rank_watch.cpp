// How a lost rank is noticed, and told of. See rank_watch.hpp.
#include "mpi/communicator/rank_watch.hpp"

#include "system/log.hpp"

#include <atomic>

namespace sluice {
namespace {

constexpr double seconds_between_looks = 0.5;  ///< At messages that may tell of a lost rank.

std::atomic<void (*)()> first_act{nullptr};

}  // namespace

void RankWatch::before_going_on(void (*act)()) { first_act = act; }

Error RankWatch::lost_rank(double now) {
    if (lost_) return lost_;
    if (auto const ended = processes_.ended(now)) {
        Rank const rank = topology_.rank_at(topology_.node_of(self_), static_cast<Rank>(*ended));
        warn("the process of rank " + std::to_string(rank) + " of " +
                 std::to_string(topology_.rank_count()) +
                 ", on this node, has ended: operations on files of its communicator end with "
                 "errors",
             true);
        lost_ = {.status = Status::other, .what = "a process of this node has ended"};
    } else if (hears_of_lost_peer(now)) {
        lost_ = {.status = Status::other, .what = "a process of another node is lost"};
    }
    if (auto const act = first_act.load(); lost_ && act) act();
    if (lost_ && network_) network_->give_up();
    return lost_;
}

/// A rank that waits for ranks of its node takes no messages meanwhile, so it takes them here.
bool RankWatch::hears_of_lost_peer(double now) {
    if (!network_) return false;
    if (now - heard_at_ > seconds_between_looks) {
        heard_at_ = now;
        network_->progress();
    }
    return network_->has_lost_peer();
}

}  // namespace sluice
