// A handle says by its lowest bit which of the two networks carries the message. See
// routed_network.hpp.
#include "transport/routed_network.hpp"

namespace sluice {
namespace {

/// The lowest bit of a handle says whose it is.
Message by_node(Message message) noexcept {
    message.handle = message.handle << 1;
    return message;
}
Message by_other(Message message) noexcept {
    message.handle = message.handle << 1 | 1;
    return message;
}
bool is_by_other(Message const& message) noexcept { return (message.handle & 1) != 0; }

}  // namespace

Message RoutedNetwork::start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                                  bool synchronous) {
    Rank const near = local(peer);
    return near >= 0 ? by_node(node_.start_send(near, context_, tag, bytes))
                     : by_other(between_->start_send(peer, tag, bytes, synchronous));
}

Message RoutedNetwork::start_recv(Rank peer, int tag, std::span<std::byte> bytes) {
    Rank const near = local(peer);
    return near >= 0 ? by_node(node_.start_recv(near, context_, tag, bytes))
                     : by_other(between_->start_recv(peer, tag, bytes));
}

bool RoutedNetwork::finished(Message& message) {
    Message its = message;
    its.handle = message.handle >> 1;
    bool const done = is_by_other(message) ? between_->finished(its) : node_.finished(its);
    std::uint64_t const own = message.handle;
    message = its;
    message.handle = own;
    return done;
}

}  // namespace sluice
