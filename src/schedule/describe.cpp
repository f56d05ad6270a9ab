// How ops are written as text. See describe.hpp.
#include "schedule/describe.hpp"

namespace sluice {
namespace {

char const* name(Memory memory) noexcept {
    switch (memory) {
    case Memory::none:
        return "-";
    case Memory::user:
        return "user";
    case Memory::cb_buffer:
        return "cb_buffer";
    case Memory::coverage:
        return "coverage";
    case Memory::message:
        return "message";
    case Memory::want:
        return "want";
    case Memory::record:
        return "record";
    case Memory::board:
        return "board";
    case Memory::announcement:
        return "announcement";
    case Memory::claims:
        return "claims";
    case Memory::input:
        return "input";
    case Memory::output:
        return "output";
    case Memory::scratch:
        return "scratch";
    }
    return "?";
}

char const* name(CounterKind counter) noexcept {
    switch (counter) {
    case CounterKind::turn:
        return "turn";
    case CounterKind::posted:
        return "posted";
    case CounterKind::arrived:
        return "arrived";
    case CounterKind::announced:
        return "announced";
    case CounterKind::claimed:
        return "claimed";
    case CounterKind::collected:
        return "collected";
    case CounterKind::taken:
        return "taken";
    case CounterKind::answered:
        return "answered";
    }
    return "?";
}

char const* name(Channel channel) noexcept {
    switch (channel) {
    case Channel::summary_exchange:
        return "summaries";
    case Channel::agreement:
        return "agreement";
    case Channel::claims:
        return "claims";
    case Channel::want:
        return "want";
    case Channel::data:
        return "data";
    case Channel::answer:
        return "answer";
    case Channel::weights:
        return "weights";
    case Channel::overlap:
        return "overlap";
    case Channel::collective:
        return "collective";
    }
    return "?";
}

/// Of rounds and of operations one is zero: an op belongs to one of them.
std::string place(Op const& op) {
    return "[" + std::to_string(op.aggregator) + "," + std::to_string(op.round + op.operation) +
           "]";
}

std::string arrow(Op const& op) { return std::string(name(op.source)) + " -> " + name(op.target); }

std::string counter(Op const& op, char const* relation) {
    return name(op.counter) + place(op) + relation + std::to_string(op.count);
}

/// Of a collective between memories: where, and how much.
std::string at(Memory memory, Bytes position) {
    return std::string(name(memory)) + "@" + std::to_string(position);
}

std::string describe_collective(Op const& op) {
    std::string const bytes = std::to_string(op.bytes) + " bytes ";
    switch (op.kind) {
    case OpKind::send:
        return "send " + bytes + "#" + std::to_string(op.number) + " to " +
               std::to_string(op.peer) + " from " + at(op.source, op.source_at);
    case OpKind::recv:
        return "recv " + bytes + "#" + std::to_string(op.number) + " from " +
               std::to_string(op.peer) + " into " + at(op.target, op.target_at);
    default:
        return (op.kind == OpKind::reduce ? "reduce " : "copy ") + bytes +
               at(op.source, op.source_at) + " -> " + at(op.target, op.target_at);
    }
}

}  // namespace

std::string describe(Op const& op) {
    if (op.channel == Channel::collective) return describe_collective(op);
    switch (op.kind) {
    case OpKind::await:
        return "await " + counter(op, " >= ") + (obtains(op) ? ", obtain cb_buffer" : "");
    case OpKind::notify:
        return "notify " + counter(op, " += ") + (gives_back(op) ? ", give back cb_buffer" : "");
    case OpKind::copy:
        return "copy " + arrow(op) + " " + place(op);
    case OpKind::merge:
        return "merge " + arrow(op);
    case OpKind::send:
        return std::string("send ") + name(op.channel) + place(op) + " to " +
               std::to_string(op.peer) + " from " + name(op.source);
    case OpKind::recv:
        return std::string("recv ") + name(op.channel) + place(op) + " from " +
               std::to_string(op.peer) + " into " + name(op.target);
    case OpKind::write:
        return std::string("write ") + name(op.source) + " " + place(op);
    case OpKind::read:
        return std::string("read ") + name(op.target) + " " + place(op);
    case OpKind::clear:
        return "clear coverage " + place(op);
    case OpKind::reduce:
        return "reduce " + arrow(op);
    }
    return "?";
}

std::string describe(Schedule const& schedule) {
    std::string text;
    for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
        Op const& op = schedule.ops[i];
        text += std::to_string(i) + ": " + describe(op);
        for (std::uint32_t e = 0; e < op.edge_count; ++e) {
            text += (e == 0 ? " after " : ", ") + std::to_string(schedule.edges[op.first_edge + e]);
        }
        text += "\n";
    }
    return text;
}

}  // namespace sluice
