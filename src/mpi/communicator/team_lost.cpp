// How a team notices that one of its ranks is lost, and that all others hear of it. See team.hpp.
#include "mpi/communicator/team.hpp"
#include "system/log.hpp"

namespace sluice {
namespace {

constexpr double seconds_between_messages = 0.5;  ///< Looks for those that tell of a lost rank.

/// What any communicator does first.
std::atomic<void (*)()> goes_on_with{nullptr};

}  // namespace

void Team::before_going_on(void (*act)()) { goes_on_with = act; }

Error Team::lost_rank(double now) {
    if (lost_) return lost_;
    if (auto const ended = watch_.ended(now)) {
        Rank const rank = topology->rank_at(topology->node_of(self), static_cast<Rank>(*ended));
        warn("the process of rank " + std::to_string(rank) + " of " +
                 std::to_string(topology->rank_count()) +
                 ", on this node, has ended: operations on files of its communicator end with "
                 "errors",
             true);
        lost_ = {.status = Status::other, .what = "a process of this node has ended"};
    } else if (hears_of_lost_peer(now)) {
        lost_ = {.status = Status::other, .what = "a process of another node is lost"};
    }
    if (auto const act = goes_on_with.load(); lost_ && act) act();
    if (lost_ && network) network->give_up();
    return lost_;
}

/// A rank that waits for those of its node takes no messages meanwhile, so it does here.
bool Team::hears_of_lost_peer(double now) {
    if (!network) return false;
    if (now - heard_at_ > seconds_between_messages) {
        heard_at_ = now;
        network->progress();
    }
    return network->has_lost_peer();
}

}  // namespace sluice
