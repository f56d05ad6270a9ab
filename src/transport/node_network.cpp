// Which peers are looked at, and when. See node_network.hpp; each peer's messages are in
// node_peer.hpp.
#include "transport/node_network.hpp"

#include "system/clock.hpp"
#include "transport/node_peer.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

/// Reads the clock about every few microseconds, whether it is asked all the time or rarely: a
/// look at the clock costs more than a look at a peer.
class RareClock {
public:
    /// Zero: not now.
    [[nodiscard]] double look() noexcept {
        if (--calls_left_ > 0) return 0;
        double const now = SteadyClock().now();
        bool const soon = now - last_ < seconds_between;
        calls_ = soon ? std::min(calls_ * 2, calls_max) : 1;
        calls_left_ = calls_;
        last_ = now;
        return now;
    }

    /// Before a pause that nobody knows the length of.
    void look_next_time() noexcept { calls_left_ = 1; }

private:
    static constexpr double seconds_between = 2e-6;
    static constexpr int calls_max = 64;
    double last_ = 0;
    int calls_ = 1, calls_left_ = 1;
};

constexpr std::size_t peers_a_look = 8;

}  // namespace

struct NodeNetwork::State {
    State(std::byte* shared, Rank own, Rank ranks, Doorbells& of_node)
        : self(own),
          shape(QueueShape::of(ranks)),
          doorbells(of_node) {
        address = own_address(probe);
        auto const queue = [&](Rank from, Rank to) {
            return shared + static_cast<std::size_t>(from * ranks + to) * shape.bytes();
        };
        for (Rank rank = 0; rank < ranks; ++rank) {
            peers.emplace_back(queue(self, rank), queue(rank, self), shape, message_descs);
        }
        is_watched.resize(static_cast<std::size_t>(ranks));
    }

    void ring_if_told(Rank rank, NodePeer& peer) {
        if (peer.takes_ring()) doorbells.ring(rank);
    }
    void watch(Rank rank) {
        auto const index = static_cast<std::size_t>(rank);
        if (is_watched[index]) return;
        is_watched[index] = true;
        watched.push_back(rank);
    }
    bool move_peers();
    bool wait_for_peers();

    Mapping memory;  ///< Empty where somebody else keeps it.
    Rank self;
    QueueShape shape;
    Doorbells& doorbells;
    std::uint64_t probe = 0;
    Address address;
    MessageDescs message_descs;
    std::vector<NodePeer> peers;
    std::vector<Rank> watched;  ///< Peers of which something is expected, or that wait for room.
    std::vector<bool> is_watched;
    std::size_t turn = 0;  ///< Which of them is looked at first.
    RareClock clock;
};

std::size_t NodeNetwork::bytes_needed(Rank ranks) noexcept {
    auto const queues = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    return queues * QueueShape::of(ranks).bytes();
}

NodeNetwork::NodeNetwork(Mapping memory, Rank self, Rank ranks, Doorbells& doorbells)
    : NodeNetwork(memory.data(), self, ranks, doorbells) {
    state_->memory = std::move(memory);
}

NodeNetwork::NodeNetwork(std::byte* memory, Rank self, Rank ranks, Doorbells& doorbells)
    : state_(std::make_unique<State>(memory, self, ranks, doorbells)) {}

NodeNetwork::~NodeNetwork() = default;

NodeNetwork::Address NodeNetwork::address() const noexcept { return state_->address; }

bool NodeNetwork::can_copy_from(std::span<Address const> peers) const noexcept {
    return std::ranges::all_of(peers, is_readable);
}

void NodeNetwork::use_copies(bool allowed, std::vector<Address> const& peers) {
    for (std::size_t rank = 0; rank < peers.size() && rank < state_->peers.size(); ++rank) {
        state_->peers[rank].meet(peers[rank], allowed);
    }
}

Message NodeNetwork::start_send(Rank peer, Context context, int tag,
                                std::span<std::byte const> bytes) {
    NodePeer& to = state_->peers[static_cast<std::size_t>(peer)];
    MessageDesc* const message_desc = to.send(context, tag, bytes);
    state_->ring_if_told(peer, to);
    if (!message_desc) return {};
    if (!message_desc->done) state_->watch(peer);
    return {reinterpret_cast<std::uintptr_t>(message_desc)};
}

Message NodeNetwork::start_recv(Rank peer, Context context, int tag, std::span<std::byte> bytes) {
    NodePeer& from = state_->peers[static_cast<std::size_t>(peer)];
    MessageDesc& message_desc = from.receive(context, tag, bytes);
    state_->ring_if_told(peer, from);
    if (from.is_busy()) state_->watch(peer);
    return {reinterpret_cast<std::uintptr_t>(&message_desc)};
}

bool NodeNetwork::finished(Message& message) {
    if (message.handle == 0) return true;
    auto& message_desc = *reinterpret_cast<MessageDesc*>(message.handle);  // NOLINT: it was one.
    if (!message_desc.done) return false;
    message_desc.report(message);
    state_->message_descs.recycle(message_desc);
    return true;
}

/// A part of the peers, in turn; those of which nothing is expected any more are left.
bool NodeNetwork::State::move_peers() {
    bool moved = false;
    std::size_t active = 0;
    for (std::size_t left = watched.size(); left > 0 && active < peers_a_look; --left) {
        if (turn >= watched.size()) turn = 0;
        Rank const rank = watched[turn];
        NodePeer& peer = peers[static_cast<std::size_t>(rank)];
        bool const peer_moved = peer.move();
        if (peer_moved) {
            ring_if_told(rank, peer);
            moved = true;
            ++active;
        }
        if (peer.is_busy()) {
            ++turn;
        } else {
            is_watched[static_cast<std::size_t>(rank)] = false;
            watched[turn] = watched.back();
            watched.pop_back();
        }
    }
    return moved;
}

/// Nothing moved: copies for peers that do not look, and finds those that are gone.
bool NodeNetwork::State::wait_for_peers() {
    double const now = clock.look();
    if (now == 0) return false;
    bool copied = false, ended = false;
    for (Rank const rank : watched) {
        NodePeer& peer = peers[static_cast<std::size_t>(rank)];
        if (!copied && peer.may_copy()) copied = peer.copy(now);
        ended |= peer.look_after(now);
        ring_if_told(rank, peer);
    }
    return copied || ended;
}

bool NodeNetwork::progress() {
    if (state_->watched.empty()) return false;
    return state_->move_peers() || state_->wait_for_peers();
}

bool NodeNetwork::must_look_again() noexcept {
    state_->clock.look_next_time();
    auto const may_copy = [&](Rank rank) {
        return state_->peers[static_cast<std::size_t>(rank)].may_copy();
    };
    return std::ranges::any_of(state_->watched, may_copy);
}

}  // namespace sluice
