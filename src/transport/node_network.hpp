// NodeNetwork carries messages between the ranks of a node through memory that they share, without
// the MPI and without a call of the peer's program. Small messages go in the cells of a ring. Large
// ones go in one copy from process to process where the system allows that (process_vm_readv), else
// through a pool. There are no wild cards, so a large message waits at its sender until its
// receiver asks for it.
#pragma once
#include "system/clock.hpp"
#include "system/mapping.hpp"
#include "transport/node_peer.hpp"

namespace sluice {

/// Reads the clock about every few microseconds, whether it is asked all the time or rarely: a look
/// at the clock costs more than a look at a peer.
class RareClock {
public:
    /// Zero: not now.
    [[nodiscard]] double look() noexcept;
    /// Before a pause that nobody knows the length of.
    void look_next_time() noexcept { calls_left_ = 1; }

private:
    double last_ = 0;
    int calls_ = 1, calls_left_ = 1;
};

class NodeNetwork {
public:
    /// Which of several conversations between the same ranks: 64 bits that both know.
    using Context = std::uint64_t;

    /// Bytes of memory that so many ranks share.
    [[nodiscard]] static std::size_t bytes_needed(Rank ranks) noexcept;

    /// What a rank must tell the others before the first message.
    using Address = ProcessAddress;

    /// `memory`: zeroed, backed (Mapping::reserve), mapped by all; `self`: the local index.
    /// `doorbells` outlives this. Messages ring the peer's doorbell.
    NodeNetwork(Mapping memory, Rank self, Rank ranks, Doorbells& doorbells);
    /// The same with memory that somebody else keeps.
    NodeNetwork(std::byte* memory, Rank self, Rank ranks, Doorbells& doorbells);
    NodeNetwork(NodeNetwork const&) = delete;
    NodeNetwork& operator=(NodeNetwork const&) = delete;

    [[nodiscard]] Address address() const noexcept { return address_; }
    /// Whether this process may read the memory of all of these; all ranks must agree on the answer
    /// (the least of all) before the first message, and tell it to use_copies().
    [[nodiscard]] static bool can_copy_from(std::span<Address const> peers) noexcept;
    /// `peers`: of all ranks, by local index. Those of the same pid namespace are also looked after
    /// while messages wait for them; others are taken to live.
    void use_copies(bool allowed, std::vector<Address> const& peers);

    /// As those of Network; `peer` is a local index, also the own one. Not safe for several
    /// threads. `tag`: any number. Buffers must live until finished() said true. A message that is
    /// longer than its receive fails there, `truncated`, and the sender's still ends. failed is set
    /// when the peer is gone; then so do all later messages.
    Message start_send(Rank peer, Context context, int tag, std::span<std::byte const> bytes);
    Message start_recv(Rank peer, Context context, int tag, std::span<std::byte> bytes);
    bool finished(Message& message) { return messages_.finished(message); }

    /// Takes what came for anybody and sends what waits for room: called once before messages are
    /// asked about. Looks only at peers of which something is expected. Bounded: some hundred KiB
    /// of copies. True when anything moved.
    bool progress() { return !watched_.empty() && (move_peers() || wait_for_peers()); }
    /// Asked before one sleeps: whether this rank will help itself within microseconds, without a
    /// ring. Then it may yield its core before it looks again, but must not sleep.
    [[nodiscard]] bool must_look_again() noexcept;

private:
    [[nodiscard]] NodePeer& at(Rank rank) { return peers_[static_cast<std::size_t>(rank)]; }
    void ring_if_told(Rank rank);
    void watch(Rank rank);
    bool move_peers();
    bool wait_for_peers();

    Mapping memory_;  ///< Empty where somebody else keeps it.
    Doorbells& doorbells_;
    std::uint64_t probe_ = 0;
    Address address_;
    NodeMessages messages_;
    std::vector<NodePeer> peers_;
    std::vector<Rank> watched_;  ///< Peers of which something is expected, or that wait for room.
    std::vector<bool> is_watched_;
    std::size_t turn_ = 0;  ///< Which of them is looked at first.
    RareClock clock_;
};

}  // namespace sluice
