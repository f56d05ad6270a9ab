// A NodePeer has all messages between this rank and one other of its node: it matches them, keeps
// what waits for room, and moves large messages. A large message stays at its sender until its
// receive began. Then the sender sends fragments through the pool, from the front, while both ranks
// make progress; where the sender does not, the receiver copies out of the sender's memory, from
// the end. docs/architecture.md, section 14, says more.
#pragma once
#include "system/peer_process.hpp"
#include "transport/message_desc.hpp"
#include "transport/node_queue.hpp"

#include <deque>
#include <span>

namespace sluice {

class NodePeer {
public:
    /// `out`, `in`: the queues' memory. `message descriptors` outlives this.
    NodePeer(std::byte* out, std::byte* in, QueueShape shape, MessageDescs& message_descs) noexcept
        : message_descs_(&message_descs),
          out_(out, shape),
          in_(in, shape),
          shape_(shape) {}

    /// Who it is, and whether its memory may be read.
    void meet(ProcessAddress const& process, bool readable) noexcept {
        process_ = process;
        readable_ = readable;
    }

    /// Null: it is complete.
    MessageDesc* send(std::uint64_t context, int tag, std::span<std::byte const> bytes);
    /// Comes back complete where the message was here before.
    MessageDesc& receive(std::uint64_t context, int tag, std::span<std::byte> bytes);

    /// Whether anything is expected of the peer, or waits for room.
    [[nodiscard]] bool is_busy() const noexcept {
        return !posted_.empty() || !large_.empty() || !incoming_.empty() || !ending_.empty() ||
               !waiting_.empty() || !notes_.empty();
    }
    /// Takes what came and sends what waits; bounded. True when anything moved.
    bool move();
    /// Whether a large message's sender is awaited, which copy() would help.
    [[nodiscard]] bool may_copy() const noexcept { return readable_ && !incoming_.empty(); }
    /// Copies a stretch of a large message whose sender does not look. True when it did.
    bool copy(double now);
    /// Now and then, while nothing comes: ends all messages when the peer is gone. True when so.
    bool look_after(double now);
    /// Whether the peer must be rung since this was last asked.
    [[nodiscard]] bool takes_ring() noexcept { return std::exchange(ring_, false); }

private:
    /// The longest message that goes without being asked for.
    [[nodiscard]] std::uint64_t whole_max() const noexcept { return shape_.body_max(); }
    bool post(Note const& note, std::span<std::byte const> body = {}) noexcept;
    void tell(Note const& note);
    bool try_send(MessageDesc& message_desc) noexcept;
    bool send_waiting();
    bool send_fragments();

    bool take_cells();
    void deliver(Cell const& cell);
    void deliver_whole(Note const& note, std::span<std::byte const> body);
    void deliver_offer(Note const& note);
    void deliver_fragment(Note const& note, std::span<std::byte const> body);
    void finish_send(Note const& note);
    void begin_large(MessageDesc& receive, MessageDesc const& offered);
    void end_large(MessageDesc& receive);
    bool end_told();
    void bring(MessageDesc& receive, std::span<std::byte const> bytes) noexcept;
    void end_all();

    MessageDescs* message_descs_;
    OutQueue out_;
    InQueue in_;
    QueueShape shape_;
    ProcessAddress process_;
    bool readable_ = false, gone_ = false, ring_ = false;
    double quiet_since_ = 0;    ///< When nothing moved any more; 0: it does.
    std::uint64_t offers_ = 0;  ///< Large messages sent so far: their numbers.

    MessageDescList posted_;    ///< Receives without a message.
    MessageDescList early_;     ///< Messages without a receive.
    MessageDescList waiting_;   ///< Sends that found no room.
    MessageDescList large_;     ///< Sends that are offered.
    MessageDescList incoming_;  ///< Receives of large messages that began.
    MessageDescList ending_;    ///< Those that are complete, but their sender cannot be told yet.
    std::deque<Note> notes_;    ///< That found no room; they go before all else.
};

}  // namespace sluice
