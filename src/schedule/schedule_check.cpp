// How faults are found: by the order of ops, and by pairs of sends and receives. See
// schedule_check.hpp.
#include "schedule/schedule_check.hpp"

#include "schedule/describe.hpp"

#include <map>
#include <tuple>

namespace sluice {
namespace {

std::string fault(std::size_t index, Op const& op, char const* what) {
    return "op " + std::to_string(index) + " (" + describe(op) + "): " + what;
}

char const* fault_of(Op const& op) noexcept {
    bool const has_source = op.source != Memory::none, has_target = op.target != Memory::none;
    switch (op.kind) {
    case OpKind::await:
    case OpKind::notify:
        return op.count < 0 ? "a counter would fall" : nullptr;
    case OpKind::copy:
    case OpKind::reduce:
    case OpKind::merge:
        return has_source && has_target ? nullptr : "needs two memories";
    case OpKind::send:
        return !has_source ? "sends nothing" : op.peer < 0 ? "has no peer" : nullptr;
    case OpKind::recv:
        return !has_target ? "receives nowhere" : op.peer < 0 ? "has no peer" : nullptr;
    case OpKind::write:
        return has_source ? nullptr : "writes nothing";
    case OpKind::read:
        return has_target ? nullptr : "reads nowhere";
    case OpKind::clear:
        return op.target == Memory::coverage ? nullptr : "clears no coverage";
    }
    return "unknown kind";
}

using MessageKey = std::tuple<Rank, Rank, Channel, std::int32_t, std::int64_t, std::int64_t>;
using CounterKey = std::tuple<Node, CounterKind, std::int32_t, std::int64_t>;

/// What the ranks of a node do with the collective buffer of a round.
struct BufferUse {
    bool touched = false;
    std::int64_t obtained = 0, given_back = 0;
};

struct Counts {
    std::map<MessageKey, std::int64_t> sent_minus_received;
    std::map<CounterKey, std::int64_t> total;
    std::map<std::tuple<Node, std::int32_t, std::int64_t>, BufferUse> buffers;
};

bool touches_buffer(Op const& op) noexcept {
    auto const is_in_it = [](Memory memory) {
        return memory == Memory::cb_buffer || memory == Memory::coverage;
    };
    if (op.kind == OpKind::await || op.kind == OpKind::notify) return false;
    return is_in_it(op.source) || is_in_it(op.target);
}

void count_buffers(Op const& op, Node node, Counts& to) {
    if (!touches_buffer(op) && !obtains(op) && !gives_back(op)) return;
    BufferUse& use = to.buffers[{node, op.aggregator, op.round}];
    use.touched = use.touched || touches_buffer(op);
    use.obtained += obtains(op) ? 1 : 0;
    use.given_back += gives_back(op) ? 1 : 0;
}

char const* fault_of(BufferUse const& use) noexcept {
    if (use.touched && use.obtained == 0) return "is touched, and nobody obtains it";
    if (use.given_back > 1) return "is given back twice";
    if (use.obtained > 0 && use.given_back == 0) return "is never given back";
    return use.given_back > 0 && use.obtained == 0 ? "is given back, and nobody has it" : nullptr;
}

CounterKey key_of(Op const& op, Node node, std::int32_t cb_buffer_count) noexcept {
    switch (op.counter) {
    case CounterKind::turn:
        return {node, op.counter, op.aggregator, op.round % cb_buffer_count};
    case CounterKind::posted:  // Counted from the begin of the round.
        return {node, op.counter, op.aggregator, op.round};
    case CounterKind::collected:
    case CounterKind::taken:
    case CounterKind::answered:
        return {node, op.counter, op.aggregator, 0};
    case CounterKind::arrived:
    case CounterKind::announced:
    case CounterKind::claimed:
        break;
    }
    // The reductions of an operation have counters of their own.
    return {node, op.counter, -1 - static_cast<std::int32_t>(op.channel), op.operation};
}

MessageKey message(Op const& op, Rank from, Rank to) noexcept {
    return {from, to, op.channel, op.aggregator, op.round, op.operation};
}

void count(Schedule const& schedule, Rank self, Node node, std::int32_t cb_buffer_count,
           Counts& to) {
    for (Op const& op : schedule.ops) {
        count_buffers(op, node, to);
        if (op.kind == OpKind::send) {
            ++to.sent_minus_received[message(op, self, op.peer)];
        } else if (op.kind == OpKind::recv) {
            --to.sent_minus_received[message(op, op.peer, self)];
        } else if (op.kind == OpKind::notify) {
            to.total[key_of(op, node, cb_buffer_count)] += op.count;
        }
    }
}

}  // namespace

std::string first_fault(Schedule const& schedule) {
    for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
        Op const& op = schedule.ops[i];
        if (char const* what = fault_of(op)) return fault(i, op, what);
        if (op.first_edge + op.edge_count > schedule.edges.size()) {
            return fault(i, op, "its edges are not there");
        }
        for (std::uint32_t e = 0; e < op.edge_count; ++e) {
            if (schedule.edges[op.first_edge + e] >= i) return fault(i, op, "waits for a later op");
        }
    }
    return {};
}

std::string first_fault(std::span<Schedule const> schedules, Topology const& topology,
                        std::int32_t cb_buffer_count) {
    Counts counts;
    for (std::size_t r = 0; r < schedules.size(); ++r) {
        auto const rank = static_cast<Rank>(r);
        if (auto text = first_fault(schedules[r]); !text.empty()) {
            return "rank " + std::to_string(r) + ": " + text;
        }
        count(schedules[r], rank, topology.node_of(rank), cb_buffer_count, counts);
    }
    for (auto const& [key, difference] : counts.sent_minus_received) {
        if (difference == 0) continue;
        auto const& [from, to, channel, aggregator, round, operation] = key;
        return "messages of round " + std::to_string(round + operation) + " from rank " +
               std::to_string(from) + " to " + std::to_string(to) + ": " +
               std::to_string(difference) + " more sent than received";
    }
    for (auto const& [key, use] : counts.buffers) {
        auto const& [node, aggregator, round] = key;
        if (char const* const what = fault_of(use)) {
            return "node " + std::to_string(node) + ": the collective buffer of round " +
                   std::to_string(round) + " of aggregator " + std::to_string(aggregator) + " " +
                   what;
        }
    }
    for (std::size_t r = 0; r < schedules.size(); ++r) {
        Node const node = topology.node_of(static_cast<Rank>(r));
        for (std::size_t i = 0; i < schedules[r].ops.size(); ++i) {
            Op const& op = schedules[r].ops[i];
            if (op.kind != OpKind::await) continue;
            if (counts.total[key_of(op, node, cb_buffer_count)] >= op.count) continue;
            return "rank " + std::to_string(r) + ": " + fault(i, op, "nobody notifies enough");
        }
    }
    return {};
}

}  // namespace sluice
