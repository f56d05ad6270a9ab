// NodeNetwork carries messages between the ranks of a node through memory that they share, without
// the MPI and without a call of the peer's program. Small messages go in the cells of a ring. Large
// ones go in one copy from process to process where the system allows that (process_vm_readv), else
// through a pool. There are no wild cards, so a large message waits at its sender until its
// receiver asks for it.
#pragma once
#include "schedule/port.hpp"
#include "system/mapping.hpp"
#include "system/peer_process.hpp"

#include <memory>
#include <span>
#include <vector>

namespace sluice {

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
    ~NodeNetwork();
    NodeNetwork(NodeNetwork const&) = delete;
    NodeNetwork& operator=(NodeNetwork const&) = delete;

    [[nodiscard]] Address address() const noexcept;
    /// Whether this process may read the memory of all of these; all ranks must agree on the answer
    /// (the least of all) before the first message, and tell it to use_copies().
    [[nodiscard]] bool can_copy_from(std::span<Address const> peers) const noexcept;
    /// `peers`: of all ranks, by local index. Those of the same pid namespace are also looked after
    /// while messages wait for them; others are taken to live.
    void use_copies(bool allowed, std::vector<Address> const& peers);

    /// As those of Network; `peer` is a local index, also the own one. Not safe for several
    /// threads. `tag`: any number. Buffers must live until finished() said true. A message that is
    /// longer than its receive fails there, `truncated`, and the sender's still ends. failed is set
    /// when the peer is gone; then so do all later messages.
    Message start_send(Rank peer, Context context, int tag, std::span<std::byte const> bytes);
    Message start_recv(Rank peer, Context context, int tag, std::span<std::byte> bytes);
    bool finished(Message& message);

    /// Takes what came for anybody and sends what waits for room: called once before messages are
    /// asked about. Looks only at peers of which something is expected. Bounded: some hundred KiB
    /// of copies. True when anything moved.
    bool progress();
    /// Asked before one sleeps: whether this rank will help itself within microseconds, without a
    /// ring. Then it may yield its core before it looks again, but must not sleep.
    [[nodiscard]] bool must_look_again() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice
