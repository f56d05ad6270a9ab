// A Schedule says what one rank does, as data: a small dependency graph in flat arrays that a pure
// function made. Ops name memory by its role and not by its address, so a schedule can be printed,
// checked for all ranks together, simulated and replayed. schedule_run.hpp interprets it.
#pragma once
#include "base/extent.hpp"
#include "base/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace sluice {

/// Memory by role. The executor binds roles to addresses.
enum class Memory : std::uint8_t {
    none,
    user,          ///< The program's buffer.
    cb_buffer,     ///< The window's bytes, in memory that the node shares.
    coverage,      ///< The collective buffer's coverage.
    message,       ///< A buffer for one message from or to another node; a summary from there.
    want,          ///< What a source asked for in this round: its coverage.
    record,        ///< The rank's own summary.
    board,         ///< The summaries of the node's ranks.
    announcement,  ///< The summary of all ranks, for the node.
    claims,        ///< On the board of the node, or those on one aggregator.
    // Of collectives between memories (src/collective): streams of bytes, with positions.
    input,    ///< What the rank brings: its send buffer.
    output,   ///< What it gets: its receive buffer, or the buffer of a broadcast.
    scratch,  ///< Bytes of the operation's own, not initialised.
};

/// Counters in memory that the node shares. They only ever grow; `await` means counter >= value.
enum class CounterKind : std::uint8_t {
    turn,     ///< Of a collective buffer: two steps a round. Even: free for round `turn / 2`; odd:
              ///< data is there.
    posted,   ///< Of a collective buffer: contributions of the node's ranks to the round.
    arrived,  ///< Of a board: ranks that posted their summary.
    announced,  ///< Of a board: the summary of all ranks is there.
    claimed,    ///< Of a board: ranks that posted their claims.
    collected,  ///< Of an aggregator and an operation: messages with claims that it has dealt with.
    taken,      ///< Of the same: messages with data or wants.
    answered,   ///< Of the same: answers that have left.
};

/// Which conversation a message belongs to.
enum class Channel : std::uint8_t {
    summary_exchange,
    agreement,
    claims,
    want,
    data,
    answer,
    weights,
    overlap,
    collective
};
/// Whether its messages belong to rounds; others belong to operations.
constexpr bool is_of_round(Channel channel) noexcept {
    return channel == Channel::data || channel == Channel::want || channel == Channel::answer;
}

/// Which counter. One of a collective buffer is named by aggregator and round, one of a board by
/// channel and operation, and one of an aggregator by that alone.
struct CounterRef {
    CounterKind kind = CounterKind::turn;
    Channel channel = Channel::data;
    std::int32_t aggregator = 0;
    std::int64_t round = 0, operation = 0;
};

/// Where bytes of a collective between memories lie: a position in one of a rank's memories.
struct Place {
    Memory memory = Memory::none;
    Bytes at = 0;
    [[nodiscard]] constexpr Place operator+(Bytes bytes) const noexcept {
        return {memory, at + bytes};
    }
    bool operator==(Place const&) const = default;
};

enum class OpKind : std::uint8_t {
    /// Until the counter reaches `count`; with `target` a collective buffer also until the round
    /// has one of those that the node shares: whoever comes first gets it for all.
    await,
    /// Adds `count` to the counter, after everything this op depends on is visible. With `source` a
    /// collective buffer it gives back that of the round before.
    notify,
    copy,    ///< From `source` to `target`; into a collective buffer it marks the coverage too.
    merge,   ///< Summaries of `source` into the record.
    send,    ///< `source` to `peer`.
    recv,    ///< From `peer` into `target`.
    write,   ///< Marked bytes of the collective buffer, or the user's bytes, to the file.
    read,    ///< The same from the file.
    clear,   ///< Unmarks the collective buffer's coverage.
    reduce,  ///< `target` becomes `source` combined with `target`, in this order.
};

/// One step. It may start once all ops in `after` are complete. The functions make the kinds, each
/// with the fields that it has; the others keep their defaults.
struct Op {
    OpKind kind = OpKind::await;
    Memory source = Memory::none, target = Memory::none;
    CounterKind counter = CounterKind::turn;  ///< await, notify.
    /// send, recv: of the message. Ops of boards and claims: which of them.
    Channel channel = Channel::data;
    bool synchronous = false;  ///< send: ends after its receive began.
    std::uint16_t number = 0;  ///< Collectives: which of the messages of this pair.
    std::int32_t aggregator = 0;
    Rank peer = -1;              ///< send, recv, and copies of their messages.
    std::int64_t round = 0;      ///< Of the operation queue: tells collective buffer and tag.
    std::int64_t operation = 0;  ///< Of boards and claims: which operation of the queue.
    std::int64_t count = 0;      ///< await, notify.
    /// recv: at most so many. Collectives: what is sent, received, copied or combined, and where.
    Bytes bytes = 0;
    Bytes source_at = 0, target_at = 0;
    std::uint32_t first_edge = 0, edge_count = 0;  ///< Into Schedule::edges; always earlier ops.

    [[nodiscard]] static Op await(CounterRef const& counter, std::int64_t at_least,
                                  Memory obtained = Memory::none);
    [[nodiscard]] static Op notify(CounterRef const& counter, std::int64_t by,
                                   Memory given_back = Memory::none);
    /// From one memory to another one; `peer`: of the message that is one of them.
    [[nodiscard]] static Op copy(Memory source, Memory target, Rank peer = -1);
    [[nodiscard]] static Op merge(Memory source, Memory target);
    [[nodiscard]] static Op send(Memory source, Rank to, Channel channel, bool synchronous = false);
    [[nodiscard]] static Op recv(Memory target, Rank from, Channel channel, Bytes at_most = 0);
    [[nodiscard]] static Op write(Memory source);
    [[nodiscard]] static Op read(Memory target);
    [[nodiscard]] static Op clear(Memory target);
    // Of collectives between memories.
    [[nodiscard]] static Op send(Place from, Rank to, Bytes bytes);
    [[nodiscard]] static Op recv(Place into, Rank from, Bytes bytes);
    [[nodiscard]] static Op copy(Place from, Place into, Bytes bytes);
    [[nodiscard]] static Op reduce(Place from, Place into, Bytes bytes);

    [[nodiscard]] CounterRef counter_ref() const noexcept {
        return {counter, channel, aggregator, round, operation};
    }
};
static_assert(sizeof(Op) <= 72, "a schedule of a thousand rounds is read from memory");

/// Whether the op sees to it that its round has a collective buffer.
constexpr bool obtains(Op const& op) noexcept {
    return op.kind == OpKind::await && op.target == Memory::cb_buffer;
}
/// Whether the round's collective buffer is another one's after it.
constexpr bool gives_back(Op const& op) noexcept {
    return op.kind == OpKind::notify && op.source == Memory::cb_buffer;
}

/// Ops in topological order.
struct Schedule {
    std::vector<Op> ops;
    std::vector<std::uint32_t> edges;

    std::uint32_t add(Op op, std::initializer_list<std::uint32_t> after);
    std::uint32_t add(Op op, std::vector<std::uint32_t> const& after);
    void clear() noexcept;

private:
    std::uint32_t add(Op op, std::uint32_t const* after, std::size_t count);
};

}  // namespace sluice
