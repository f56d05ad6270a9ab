// One connection of TCP from this rank to a rank of another node, and one from another node to it:
// for bytes that have to cross the network, without any MPI.
#pragma once
#include <cstddef>

#include "system/descriptor.hpp"

namespace sluice::bench {

class Partner {
public:
    /// Collective. On one node there is no partner, and no bytes may be sent or received.
    Partner();

    // Block until all bytes have passed; what they are does not matter.
    void send(std::size_t bytes) const;
    void receive(std::size_t bytes) const;

    // The rank that sends to this one, and the one that it sends to; itself on one node.
    [[nodiscard]] int sender() const noexcept { return sender_; }
    [[nodiscard]] int receiver() const noexcept { return receiver_; }

private:
    int sender_ = 0, receiver_ = 0;
    Descriptor to_, from_;
};

}  // namespace sluice::bench
