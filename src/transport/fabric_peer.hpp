// A FabricPeer has all messages between this process and one other over a fabric, as the paper on
// nonblocking collectives over RDMA has them: short ones go whole into slots that the receiver has
// registered, and credits for these slots ride on other messages. For a long one the receiver says
// where its memory is, and the sender answers with one write into it. Messages of one context and
// tag are numbered on both sides, so a fabric may bring them in any order. docs/architecture.md,
// section 14, says more.
#pragma once
#include "transport/fabric_channel.hpp"
#include "transport/fabric_writes.hpp"
#include "transport/shown_receives.hpp"

#include <map>
#include <set>

namespace sluice {

/// A send goes by writes of its parts, then by a message with its bytes. A long one without parts
/// has writes only.
struct FabricSend : StartedMessage {
    FabricSend* next = nullptr;
    FabricIndex peer = 0;
    bool has_message = true;    ///< Beside the writes.
    bool awaits_match = false;  ///< It is synchronous, and its receive has not begun.
    bool went = false;          ///< The wire took all of it; or it failed.
    FabricWrites writes;
    double quiet_since = 0;  ///< When it began to wait for its `ready`.
};

using FabricMessages = StartedMessages<FabricSend, FabricReceive, FabricHeader>;

/// What the peers of a process share.
struct FabricShared {
    FabricWire& wire;
    FabricMessages messages{};
    ShownReceives shown{wire};
    std::uint64_t written_bytes = 0;  ///< Of all writes.
    int peers_behind = 0;             ///< FabricChannel::is_behind().
    std::uint64_t ends = 0;  ///< How often messages with a peer, or of a context with it, ended.
    std::vector<FabricIndex> lost{};  ///< Peers, until somebody is told of them.
};

class FabricPeer {
public:
    /// `shared` outlives this.
    FabricPeer(FabricShared& shared, FabricIndex index) noexcept
        : shared_(shared),
          index_(index),
          channel_(shared.wire, index, shared.peers_behind),
          receives_(shared.messages.early),
          long_sends_(shared.messages.early) {}

    /// Who it is: before that, messages from it are kept, and those to it wait.
    void meet(FabricCard const& card);
    [[nodiscard]] bool is_met() const noexcept { return is_met_; }
    [[nodiscard]] FabricCard const& card() const noexcept { return channel_.card(); }

    /// With parts it goes only to a receive that has a target.
    FabricSend& send(std::uint64_t context, int tag, std::span<std::byte const> bytes,
                     std::span<PlacedPart const> parts, bool synchronous);
    /// `target`: where parts go; empty: it takes no message with parts.
    FabricReceive& receive(std::uint64_t context, int tag, std::span<std::byte> bytes,
                           std::span<std::byte> target);

    /// A message of this peer came.
    void take(FabricHeader const& header, std::span<std::byte const> body);
    /// All bytes of a write for the receive are there; `bytes`: 0 where the write does not say.
    void take_write(FabricReceive& receive, std::uint64_t bytes);
    /// The wire gave back a write of the send.
    void end_write(FabricSend& send);
    /// Sends what waits; bounded. True when anything moved.
    bool move();
    /// Now and then: tells the peer of long messages that wait for it, and sends it something where
    /// it is silent, because only who sends finds out that a process has ended.
    void look_after(double now);
    /// Whether move() has something to do as soon as there is room.
    [[nodiscard]] bool has_waiting() const noexcept {
        return channel_.has_waiting() || !waiting_.empty() || !writing_.empty();
    }
    /// Whether anything is expected of the peer: messages, answers, or credits.
    [[nodiscard]] bool expects_any() const noexcept {
        return receives_.is_awaited() || long_sends_.is_awaited() || !went_.empty() ||
               !waiting_.empty() || !channel_.has_told_all() || channel_.is_behind();
    }
    /// The peer cannot be reached any more: all messages end, and later ones too.
    void end();
    /// All messages of the context end, and later ones too; `tells`: the peer is told.
    void end(std::uint64_t context, bool tells);
    /// Why there are no messages of the context with the peer; null: there may be.
    [[nodiscard]] EndReason const* why_none(std::uint64_t context) const noexcept;
    /// The numbers of a context that no message has any more.
    void forget(std::uint64_t context);

private:
    struct Numbers {
        std::uint32_t sent = 0, received = 0;
    };
    using Stream = std::pair<std::uint64_t, int>;  ///< Context and tag.

    [[nodiscard]] std::uint64_t whole_most() const noexcept {
        return shared_.wire.message_most() - sizeof(FabricHeader);
    }
    bool send_waiting();
    bool send_writes();
    bool was_taken(WireResult result);
    void went(FabricSend& send);
    void end_if_over(FabricSend& send);
    template <class Fits> void end_those(Fits const& fits, EndReason const& reason);

    void show(FabricReceive& receive);
    void end_if_all_came(FabricReceive& receive);
    void end_receive(FabricReceive& receive, EndReason const* reason = nullptr);
    void refuse(FabricReceive& receive, EndReason const& reason);
    void take_whole(FabricHeader const& header, std::span<std::byte const> body);
    void take_ready(FabricHeader const& header, std::span<std::byte const> body);
    void take_length(FabricHeader const& header, std::span<std::byte const> body);
    void take_waiting(FabricHeader const& header);
    void begin_writes(FabricSend& send, FabricHeader const& ready,
                      std::span<std::byte const> target);

    FabricShared& shared_;
    FabricIndex index_;
    FabricChannel channel_;
    bool is_met_ = false, is_gone_ = false, was_heard_ = false;
    double quiet_since_ = 0, patience_ = 0;
    std::map<Stream, Numbers> numbers_;
    std::set<std::uint64_t> ended_contexts_;

    Matcher<FabricReceive, FabricHeader> receives_;  ///< And messages, or those that wait for it.
    Matcher<FabricSend, FabricHeader> long_sends_;   ///< And memory for them.
    LinkedList<FabricSend> writing_;                 ///< Writes of them found no room.
    LinkedList<FabricSend> waiting_;                 ///< Their message found no room.
    LinkedList<FabricSend> went_;                    ///< Not all has ended that went.
};

}  // namespace sluice
