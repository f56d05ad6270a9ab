// A RoutedNetwork carries the messages of one communicator: between the ranks of a node through the
// memory that they share, and between nodes over another network. The two ranks of a message agree
// without asking on which of them carries it.
#pragma once
#include "base/topology.hpp"
#include "transport/node_network.hpp"

namespace sluice {

class RoutedNetwork final : public Network {
public:
    /// `local[r]`: the local index of the communicator's rank r on this node, -1 on another one.
    RoutedNetwork(NodeNetwork& node, std::vector<Rank> local) noexcept
        : node_(node),
          local_(std::move(local)) {}

    /// Before the first message. `between` may be null where all ranks are on this node. Both
    /// networks outlive this.
    void connect(NodeNetwork::Context context, Network* between) noexcept {
        context_ = context;
        between_ = between;
    }

    Message start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                       bool synchronous) override {
        Rank const near = local(peer);
        return near >= 0 ? marked(node_.start_send(near, context_, tag, bytes), 0)
                         : marked(between_->start_send(peer, tag, bytes, synchronous), 1);
    }
    Message start_recv(Rank peer, int tag, std::span<std::byte> bytes) override {
        Rank const near = local(peer);
        return near >= 0 ? marked(node_.start_recv(near, context_, tag, bytes), 0)
                         : marked(between_->start_recv(peer, tag, bytes), 1);
    }
    bool finished(Message& message) override {
        std::uint64_t const own = message.handle;
        message.handle = own >> 1;
        bool const done = own & 1 ? between_->finished(message) : node_.finished(message);
        message.handle = own;
        return done;
    }
    bool progress() override {
        bool const moved = between_ && between_->progress();
        return node_.progress() || moved;
    }
    [[nodiscard]] bool must_look_again() noexcept override { return node_.must_look_again(); }
    [[nodiscard]] int due() const noexcept override { return between_ ? between_->due() : 0; }

private:
    /// The lowest bit of a handle says whose it is.
    [[nodiscard]] static Message marked(Message message, std::uint64_t by_other) noexcept {
        message.handle = message.handle << 1 | by_other;
        return message;
    }
    [[nodiscard]] Rank local(Rank peer) const noexcept {
        return local_[static_cast<std::size_t>(peer)];
    }

    NodeNetwork& node_;
    NodeNetwork::Context context_ = 0;
    std::vector<Rank> local_;
    Network* between_ = nullptr;
};

}  // namespace sluice
