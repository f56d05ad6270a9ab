// Which peers are looked at, and when. See node_network.hpp; each peer's messages are in
// node_peer.hpp.
#include "transport/node_network.hpp"

namespace sluice {
namespace {

constexpr double seconds_between_clocks = 2e-6;
constexpr int calls_a_clock_max = 64;
constexpr std::size_t peers_a_look = 8;

}  // namespace

double RareClock::look() noexcept {
    if (--calls_left_ > 0) return 0;
    double const now = SteadyClock().now();
    bool const soon = now - last_ < seconds_between_clocks;
    calls_ = soon ? std::min(calls_ * 2, calls_a_clock_max) : 1;
    calls_left_ = calls_;
    last_ = now;
    return now;
}

std::size_t NodeNetwork::bytes_needed(Rank ranks) noexcept {
    auto const queues = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    return queues * QueueShape::of(ranks).bytes();
}

NodeNetwork::NodeNetwork(Mapping memory, Rank self, Rank ranks, Doorbells& doorbells)
    : NodeNetwork(memory.data(), self, ranks, doorbells) {
    memory_ = std::move(memory);
}

NodeNetwork::NodeNetwork(std::byte* memory, Rank self, Rank ranks, Doorbells& doorbells)
    : doorbells_(doorbells),
      address_(own_address(probe_)),
      is_watched_(static_cast<std::size_t>(ranks)) {
    QueueShape const shape = QueueShape::of(ranks);
    peers_.reserve(static_cast<std::size_t>(ranks));
    auto const queue = [&](Rank from, Rank to) {
        return memory + static_cast<std::size_t>(from * ranks + to) * shape.bytes();
    };
    for (Rank rank = 0; rank < ranks; ++rank)
        peers_.emplace_back(queue(self, rank), queue(rank, self), shape, messages_);
}

bool NodeNetwork::can_copy_from(std::span<Address const> peers) noexcept {
    return std::ranges::all_of(peers, is_readable);
}

void NodeNetwork::use_copies(bool allowed, std::vector<Address> const& peers) {
    for (std::size_t rank = 0; rank < peers.size() && rank < peers_.size(); ++rank)
        peers_[rank].meet(peers[rank], allowed);
}

void NodeNetwork::ring_if_told(Rank rank) {
    if (at(rank).takes_ring()) doorbells_.ring(rank);
}

void NodeNetwork::watch(Rank rank) {
    auto const index = static_cast<std::size_t>(rank);
    if (is_watched_[index]) return;
    is_watched_[index] = true;
    watched_.push_back(rank);
}

Message NodeNetwork::start_send(Rank peer, Context context, int tag,
                                std::span<std::byte const> bytes) {
    NodeSend* const send = at(peer).send({context, tag}, bytes);
    ring_if_told(peer);
    if (!send) return {};
    if (!send->done) watch(peer);
    return NodeMessages::handle_of(*send);
}

Message NodeNetwork::start_recv(Rank peer, Context context, int tag, std::span<std::byte> bytes) {
    NodeReceive& receive = at(peer).receive({context, tag}, bytes);
    ring_if_told(peer);
    if (at(peer).is_busy()) watch(peer);
    return NodeMessages::handle_of(receive);
}

/// A part of the peers, in turn; those of which nothing is expected any more are left.
bool NodeNetwork::move_peers() {
    bool moved = false;
    std::size_t active = 0;
    for (std::size_t left = watched_.size(); left > 0 && active < peers_a_look; --left) {
        if (turn_ >= watched_.size()) turn_ = 0;
        Rank const rank = watched_[turn_];
        NodePeer& peer = at(rank);
        if (peer.move()) {
            ring_if_told(rank);
            moved = true;
            ++active;
        }
        if (peer.is_busy()) {
            ++turn_;
        } else {
            is_watched_[static_cast<std::size_t>(rank)] = false;
            watched_[turn_] = watched_.back();
            watched_.pop_back();
        }
    }
    return moved;
}

/// Nothing moved: copies for peers that do not look, and finds those that are gone.
bool NodeNetwork::wait_for_peers() {
    double const now = clock_.look();
    if (now == 0) return false;
    bool copied = false, ended = false;
    for (Rank const rank : watched_) {
        NodePeer& peer = at(rank);
        if (!copied && peer.may_copy()) copied = peer.copy(now);
        ended |= peer.look_after(now);
        ring_if_told(rank);
    }
    return copied || ended;
}

bool NodeNetwork::must_look_again() noexcept {
    clock_.look_next_time();
    return std::ranges::any_of(watched_, [&](Rank rank) { return at(rank).may_copy(); });
}

}  // namespace sluice
