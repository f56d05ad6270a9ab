// FabricMessages are the messages of a process over a fabric: it knows the peers, gives them what
// came, and moves on those that have something to send. Not safe for several threads.
#pragma once
#include "schedule/port.hpp"
#include "transport/fabric_peer.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace sluice {

class FabricMessages {
public:
    /// `wire` outlives this.
    FabricMessages(FabricWire& wire, FabricCard const& own) : shared_{wire, own, {}, {}, 0} {}

    /// Finds or makes the peer with this card. Messages may go both ways afterwards.
    FabricIndex meet(FabricCard const& card);

    /// As those of a Network. A message that does not end well has its cause in it.
    Message start_send(FabricIndex peer, std::uint64_t context, int tag,
                       std::span<std::byte const> bytes, bool synchronous);
    Message start_placing_send(FabricIndex peer, std::uint64_t context, int tag,
                               std::span<std::byte const> bytes, std::span<PlacedPart const> parts);
    /// `target`: where parts go, or nothing.
    Message start_recv(FabricIndex peer, std::uint64_t context, int tag, std::span<std::byte> bytes,
                       std::span<std::byte> target = {});
    bool finished(Message& message);
    /// All messages of the context with the peer end, and later ones too; it is told.
    void give_up(FabricIndex peer, std::uint64_t context);
    /// The same, and nobody is told.
    void abandon(FabricIndex peer, std::uint64_t context);
    /// No message of the context is under way, and none will be.
    void forget(std::uint64_t context);

    /// From the wire: a message; what came with a write; a write's context. What does not come from
    /// this job is thrown away.
    void take(std::span<std::byte const> message);
    void take_write(std::uint64_t data);
    void end_write(void* context);
    /// The peer cannot be reached any more.
    void lose(FabricIndex peer);
    /// Sends what waits, and looks after what has waited for long. True when anything moved.
    bool move(double now);

    /// Started and not asked about successfully since.
    [[nodiscard]] int under_way() const noexcept { return under_way_; }
    [[nodiscard]] bool has_waiting() const noexcept { return !busy_.empty(); }
    /// Bytes of all writes that the wire took.
    [[nodiscard]] std::uint64_t written_bytes() const noexcept { return shared_.written_bytes; }
    /// Whether a peer has not taken so many messages that the wire may still have some of them.
    [[nodiscard]] bool has_untaken() const noexcept { return shared_.peers_behind > 0; }
    /// Whether all of these peers can be reached and take part in messages of the context.
    [[nodiscard]] bool all_take_part(std::uint64_t context,
                                     std::span<FabricIndex const> peers) const noexcept;
    /// Another number whenever that may have changed.
    [[nodiscard]] std::uint64_t ends() const noexcept { return shared_.ends; }
    /// Peers from which something is expected, for who wants to know whether they still live.
    [[nodiscard]] std::vector<FabricIndex> awaited() const;
    [[nodiscard]] FabricCard const& card_of(FabricIndex peer) const noexcept {
        return peers_[peer]->card();
    }
    /// Peers that were lost since this was last asked.
    [[nodiscard]] std::vector<FabricIndex> take_lost() { return std::exchange(lost_, {}); }

private:
    FabricIndex index_of(std::uint64_t name);
    void note_busy(FabricIndex peer);
    Message started(MessageDesc* message, FabricIndex peer);

    FabricShared shared_;
    std::vector<std::unique_ptr<FabricPeer>> peers_;
    std::unordered_map<std::uint64_t, FabricIndex> by_name_;
    std::vector<FabricIndex> busy_;  ///< Peers for which something waits for room.
    std::vector<bool> is_busy_, is_known_lost_;
    std::vector<FabricIndex> lost_;
    int under_way_ = 0;
    double looked_at_ = 0;
};

}  // namespace sluice
