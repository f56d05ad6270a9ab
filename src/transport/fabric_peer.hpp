// A FabricPeer has all messages between this process and one other over a fabric, as the paper on
// nonblocking collectives over RDMA has them: short ones go whole into slots that the receiver has
// registered, and credits for these slots ride on other messages. For a long one the receiver says
// where its memory is, and the sender answers with one write into it. Messages of one context and
// tag are numbered on both sides, so a fabric may bring them in any order. docs/architecture.md,
// section 14, says more.
#pragma once
#include "transport/fabric_header.hpp"
#include "transport/fabric_wire.hpp"
#include "transport/message_desc.hpp"

#include <deque>
#include <map>
#include <set>
#include <span>

namespace sluice {

/// Receives that peers write to, by the number that they were told.
class ShownReceives {
public:
    struct Place {
        MessageDesc* receive = nullptr;
        FabricIndex peer = 0;
    };
    [[nodiscard]] std::uint32_t add(MessageDesc& receive, FabricIndex peer);
    /// Null where there is none of that number.
    [[nodiscard]] Place const* find(std::uint32_t number) const noexcept;
    void remove(std::uint32_t number);
    /// The same where a peer may still write: its write must not count for another receive, so
    /// none has the number any more.
    void retire(std::uint32_t number) noexcept { places_[number].receive = nullptr; }

private:
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;
};

/// What the peers of a process share.
struct FabricShared {
    FabricWire& wire;
    FabricCard own;
    MessageDescs message_descs;
    ShownReceives receives;
    std::uint64_t written_bytes = 0;  ///< Of all writes.
    int peers_behind = 0;             ///< FabricPeer::is_behind_.
    std::uint64_t ends = 0;  ///< How often messages with a peer, or of a context with it, ended.
};

/// The number of a receive and, if there is one write only, how many bytes it has.
struct WriteData {
    std::uint32_t receive = 0;
    std::uint64_t bytes = 0;  ///< 0: `length` tells.

    [[nodiscard]] static std::uint64_t pack(WriteData const& what, unsigned bits) noexcept;
    [[nodiscard]] static WriteData unpack(std::uint64_t data, unsigned bits) noexcept;
};

/// Finds the message that the header is about.
[[nodiscard]] inline auto same_message(std::uint64_t context, int tag,
                                       std::uint32_t number) noexcept {
    return [=](MessageDesc const& one) {
        return one.number == number && one.tag == tag && one.context == context;
    };
}
[[nodiscard]] inline auto same_message(FabricHeader const& header) noexcept {
    return same_message(header.context, header.tag, header.number);
}

class FabricPeer {
public:
    /// `shared` outlives this.
    FabricPeer(FabricShared& shared, FabricIndex index) noexcept : shared_(shared), index_(index) {}

    /// Who it is: before that, messages from it are kept, and those to it wait.
    void meet(FabricCard const& card);
    [[nodiscard]] bool is_met() const noexcept { return is_met_; }
    [[nodiscard]] bool is_gone() const noexcept { return is_gone_; }
    [[nodiscard]] FabricCard const& card() const noexcept { return card_; }

    /// Null: it is complete.
    MessageDesc* send(std::uint64_t context, int tag, std::span<std::byte const> bytes,
                      bool synchronous);
    MessageDesc& send_parts(std::uint64_t context, int tag, std::span<std::byte const> bytes,
                            std::span<PlacedPart const> parts);
    /// `target`: where parts go; empty: it takes no message with parts.
    MessageDesc& receive(std::uint64_t context, int tag, std::span<std::byte> bytes,
                         std::span<std::byte> target);

    /// A message of this peer came.
    void take(FabricHeader const& header, std::span<std::byte const> body);
    /// All bytes of a write for the receive are there; `bytes`: 0 where the write does not say.
    void take_write(MessageDesc& receive, std::uint64_t bytes);
    /// The wire gave back a write of the send.
    void end_write(MessageDesc& send);
    /// Sends what waits; bounded. True when anything moved.
    bool move();
    /// Now and then: tells the peer of long messages that wait for it, and sends it something where
    /// it is silent, because only who sends finds out that a process has ended.
    void look_after(double now);
    /// Whether move() has something to do as soon as there is room.
    [[nodiscard]] bool has_waiting() const noexcept {
        return !notes_.empty() || !waiting_.empty() || !writing_.empty() || owes_credits();
    }
    /// Whether anything is expected of the peer: messages, answers, or credits.
    [[nodiscard]] bool expects_any() const noexcept {
        return !posted_.empty() || !large_.empty() || !unmatched_.empty() || !waiting_.empty() ||
               !notes_.empty() || is_behind_;
    }
    /// The peer cannot be reached any more: all messages end, and later ones too.
    void end_all();
    /// All messages of the context end, and later ones too; the peer is told.
    void give_up(std::uint64_t context);
    /// The same, and nobody is told: the peer may not be reached.
    void abandon(std::uint64_t context);
    /// Whether there are messages of the context with the peer, or may be.
    [[nodiscard]] bool takes_part(std::uint64_t context) const noexcept {
        return !why_none(context);
    }
    /// The numbers of a context that no message has any more.
    void forget(std::uint64_t context);

private:
    /// With so many short messages that its peer has not taken, a connection may be full.
    static constexpr std::uint32_t messages_held = 8;
    static constexpr char const* unreachable = "the peer cannot be reached over the fabric";
    static constexpr char const* given_up = "a process of the peer's node has ended";
    struct Numbers {
        std::uint32_t sent = 0, received = 0;
    };
    struct Note {  ///< A message that is none of the program's.
        FabricHeader header;
        FabricTarget target{};  ///< Of a `ready`; no address: it has none.
        bool has_target = false;
    };
    using Stream = std::pair<std::uint64_t, int>;  ///< Context and tag.

    [[nodiscard]] std::uint64_t whole_most() const noexcept {
        return shared_.wire.message_most() - sizeof(FabricHeader);
    }
    [[nodiscard]] static std::uint32_t credited_at_once(FabricCard const& receiver) noexcept;
    [[nodiscard]] bool owes_credits() const noexcept;
    void note_behind() noexcept;
    WireResult post(FabricHeader header, std::span<std::byte const> body = {});
    WireResult post(Note const& note);
    void tell(FabricHeader const& header);
    void tell(Note const& note);
    [[nodiscard]] static FabricHeader header_of(FabricKind kind, MessageDesc const& message);
    bool send_notes();
    bool send_waiting();
    bool send_writes();
    bool send_credits();
    WireResult post_credits();
    bool try_whole(MessageDesc& send);
    void send_whole(MessageDesc& send);
    void end_sent(MessageDesc& send);
    void end_lost(MessageDesc& send, char const* why = unreachable);
    void end_context(std::uint64_t context);
    [[nodiscard]] char const* why_none(std::uint64_t context) const noexcept;

    MessageDesc& make(std::uint64_t context, int tag, std::uint32_t number);
    MessageDesc& make(FabricHeader const& header);
    void offer_memory(MessageDesc& receive);
    void take_whole(FabricHeader const& header, std::span<std::byte const> body);
    void take_head(FabricHeader const& header, std::span<std::byte const> body);
    void take_ready(FabricHeader const& header, std::span<std::byte const> body);
    void take_length(FabricHeader const& header);
    void take_waiting(FabricHeader const& header);
    void take_refused(FabricHeader const& header);
    void take_too_long(FabricHeader const& header);
    void begin_writes(MessageDesc& send, MessageDesc const& ready);
    void announce_writes(MessageDesc& send);
    void end_writes(MessageDesc& send);
    void finish_if_all_came(MessageDesc& receive);
    void bring(MessageDesc& receive, std::span<std::byte const> bytes) noexcept;
    /// `may_be_written`: its sender was told of its memory, and may use it at this moment.
    void end_receive(MessageDesc& receive, bool may_be_written = false);
    void refuse(MessageDesc& receive);
    static void fail(MessageDesc& message, char const* why = unreachable,
                     Status status = Status::other) noexcept;

    FabricShared& shared_;
    FabricIndex index_;
    FabricCard card_;
    bool is_met_ = false, is_gone_ = false, was_heard_ = false;
    double quiet_since_ = 0, patience_ = 0;
    std::uint32_t sent_ = 0, credited_ = 0;  ///< Messages that take a slot there; credits for them.
    std::uint32_t taken_ = 0, told_ = 0;     ///< The same here.
    /// Up to this one it waits for them. Of memory that it is shown it may need none, and then it
    /// may take no more.
    std::uint32_t needed_ = 0;
    bool is_behind_ = false;  ///< It would have credited some of those had it taken them.
    std::map<Stream, Numbers> numbers_;
    std::set<std::uint64_t> ended_contexts_;

    MessageDescList posted_;     ///< Receives without a message.
    MessageDescList early_;      ///< Messages without a receive, and those that wait for it.
    MessageDescList ready_;      ///< Memory for messages that were not sent yet.
    MessageDescList waiting_;    ///< Whole messages that found no room.
    MessageDescList unmatched_;  ///< Synchronous messages that went.
    MessageDescList large_;      ///< Long messages that wait for memory.
    MessageDescList writing_;    ///< Long messages of which writes found no room.
    MessageDescList written_;    ///< Long messages whose writes all went.
    std::deque<Note> notes_;     ///< That found no room; they go before all else.
};

}  // namespace sluice
