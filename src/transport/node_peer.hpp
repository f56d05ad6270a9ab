// A NodePeer has all messages between this rank and one other of its node: it matches them, keeps
// what waits for room, and moves large messages. A large message stays at its sender until its
// receive began. Then the sender sends fragments through the pool, from the front, while both ranks
// make progress; where the sender does not, the receiver copies out of the sender's memory, from
// the end. docs/architecture.md, section 14, says more.
#pragma once
#include "system/peer_process.hpp"
#include "transport/messages.hpp"
#include "transport/node_queue.hpp"

namespace sluice {

struct NodeSend : StartedMessage {
    NodeSend* next = nullptr;
    std::uint64_t number = 0;  ///< Of large ones, given by the sender.
    std::uint64_t front = 0;   ///< Fragments went up to here,
    std::uint64_t back = 0;    ///< and are wanted up to here.
    bool granted = false;      ///< They may go.
};

struct NodeReceive : StartedMessage {
    NodeReceive* next = nullptr;
    std::uint64_t number = 0, address = 0;  ///< Of a large message, and of its bytes there.
    std::uint64_t front = 0;                ///< Fragments came up to here,
    std::uint64_t back = 0;                 ///< and from here on the bytes were copied.
    double quiet_since = 0;                 ///< When nothing came any more; 0: it does.
};

using NodeMessages = StartedMessages<NodeSend, NodeReceive, Note>;

class NodePeer {
public:
    /// `out`, `in`: the queues' memory. `messages` outlives this.
    NodePeer(std::byte* out, std::byte* in, QueueShape shape, NodeMessages& messages) noexcept
        : messages_(messages),
          out_(out, shape),
          in_(in, shape),
          whole_max_(shape.body_max()),
          receives_(messages.early) {}

    /// Who it is, and whether its memory may be read.
    void meet(ProcessAddress const& process, bool readable) noexcept {
        process_ = process;
        readable_ = readable;
    }

    /// Null: it is complete.
    NodeSend* send(MatchKey key, std::span<std::byte const> bytes);
    /// Comes back complete where the message was here before.
    NodeReceive& receive(MatchKey key, std::span<std::byte> bytes);

    /// Whether anything is expected of the peer, or waits for room.
    [[nodiscard]] bool is_busy() const noexcept {
        return receives_.is_awaited() || !large_.empty() || !incoming_.empty() ||
               !waiting_.empty() || !told_.empty();
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
    /// What the peer is told, and the receive that is complete when it was.
    struct Told {
        Note note;
        NodeReceive* receive = nullptr;
    };

    bool post(Note const& note, std::span<std::byte const> body = {}) noexcept;
    void tell(Note const& note, NodeReceive* receive = nullptr);
    bool try_send(NodeSend& send) noexcept;
    bool send_waiting();
    bool send_fragments();

    bool take_cells();
    void deliver(Note const& note, std::span<std::byte const> body);
    void deliver_fragment(Note const& note, std::span<std::byte const> body);
    void take_answer(Note const& note);
    void begin_large(NodeReceive& receive, Note const& offer);
    void end_large(NodeReceive& receive);
    void end();

    NodeMessages& messages_;
    OutQueue out_;
    InQueue in_;
    std::uint64_t whole_max_;  ///< The longest message that goes without being asked for.
    ProcessAddress process_;
    bool readable_ = false, gone_ = false, ring_ = false;
    double quiet_since_ = 0;    ///< When nothing moved any more; 0: it does.
    std::uint64_t offers_ = 0;  ///< Large messages sent so far: their numbers.

    Matcher<NodeReceive, Note> receives_;
    LinkedList<NodeReceive> incoming_;  ///< Of large messages, begun.
    LinkedList<NodeSend> waiting_;      ///< Found no room.
    LinkedList<NodeSend> large_;        ///< Are offered.
    std::deque<Told> told_;             ///< Found no room; they go before all else.
};

}  // namespace sluice
