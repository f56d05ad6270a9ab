// Messages between the ranks of a node through memory that they share, without the MPI and without
// a call of the peer's program: small ones in cells of a ring, large ones in one copy from process
// to process where the system allows it (process_vm_readv), else through slots. Receiver-driven:
// there are no wild cards, so a large message waits at its sender until its receiver asks for it.
#pragma once
#include "ports/bell.hpp"
#include "ports/port.hpp"

#include <memory>

namespace sluice {

class NodeNetwork {
public:
    /// Which of several conversations between the same ranks: 64 bits that both know.
    using Context = std::uint64_t;

    /// Bytes of memory that so many ranks share.
    [[nodiscard]] static std::size_t bytes_needed(Rank ranks) noexcept;

    /// What a rank must tell the others before the first message; trivially copyable.
    struct Address {
        std::int64_t pid = 0;
        std::uint64_t probe = 0;  ///< Address of a word for peers to read, with `token` in it.
        std::uint64_t token = 0;
    };

    /// `memory`: zeroed, backed (SharedMemory::reserve), mapped by all; `self`: the local index.
    /// Memory and `bells` outlive this. Messages ring the peer's bell.
    NodeNetwork(std::span<std::byte> memory, Rank self, Rank ranks, Bells& bells);
    ~NodeNetwork();
    NodeNetwork(NodeNetwork const&) = delete;
    NodeNetwork& operator=(NodeNetwork const&) = delete;

    [[nodiscard]] Address address() const noexcept;
    /// Whether this process may read the memory of all of these; all ranks must agree on the answer
    /// (the least of all) before the first message, and tell it to use_copies().
    [[nodiscard]] bool can_copy_from(std::span<Address const> peers) const noexcept;
    void use_copies(bool allowed, std::vector<Address> peers);

    /// As those of Network; `peer` is a local index, also the own one. Not safe for several
    /// threads. `tag`: any number. Buffers must live until finished() said true. A message that is
    /// longer than its receive fails there, and the sender's still ends. failed is set when the
    /// peer is gone.
    Message start_send(Rank peer, Context context, int tag, std::span<std::byte const> bytes);
    Message start_recv(Rank peer, Context context, int tag, std::span<std::byte> bytes);
    bool finished(Message& message);

    /// Takes what came for anybody and sends what waits for room: called once before messages are
    /// asked about. True when anything moved.
    bool progress();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice
