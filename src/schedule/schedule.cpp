// How ops are made, and added with their dependencies. See schedule.hpp.
#include "schedule/schedule.hpp"

namespace sluice {
namespace {

Op of_counter(OpKind kind, CounterRef const& counter, std::int64_t count) {
    return {.kind = kind,
            .counter = counter.kind,
            .channel = counter.channel,
            .aggregator = counter.aggregator,
            .round = counter.round,
            .operation = counter.operation,
            .count = count};
}

Op of_places(OpKind kind, Place from, Place into, Bytes bytes, Rank peer) {
    return {.kind = kind,
            .source = from.memory,
            .target = into.memory,
            .channel = Channel::collective,
            .peer = peer,
            .bytes = bytes,
            .source_at = from.at,
            .target_at = into.at};
}

}  // namespace

Op Op::await(CounterRef const& counter, std::int64_t at_least, Memory obtained) {
    Op op = of_counter(OpKind::await, counter, at_least);
    op.target = obtained;
    return op;
}
Op Op::notify(CounterRef const& counter, std::int64_t by, Memory given_back) {
    Op op = of_counter(OpKind::notify, counter, by);
    op.source = given_back;
    return op;
}
Op Op::copy(Memory source, Memory target, Rank peer) {
    return {.kind = OpKind::copy, .source = source, .target = target, .peer = peer};
}
Op Op::merge(Memory source, Memory target) {
    return {.kind = OpKind::merge, .source = source, .target = target};
}
Op Op::send(Memory source, Rank to, Channel channel, bool synchronous) {
    return {.kind = OpKind::send,
            .source = source,
            .channel = channel,
            .synchronous = synchronous,
            .peer = to};
}
Op Op::recv(Memory target, Rank from, Channel channel, Bytes at_most) {
    return {
        .kind = OpKind::recv, .target = target, .channel = channel, .peer = from, .bytes = at_most};
}
Op Op::write(Memory source) { return {.kind = OpKind::write, .source = source}; }
Op Op::read(Memory target) { return {.kind = OpKind::read, .target = target}; }
Op Op::clear(Memory target) { return {.kind = OpKind::clear, .target = target}; }

Op Op::send(Place from, Rank to, Bytes bytes) {
    return of_places(OpKind::send, from, {}, bytes, to);
}
Op Op::recv(Place into, Rank from, Bytes bytes) {
    return of_places(OpKind::recv, {}, into, bytes, from);
}
Op Op::copy(Place from, Place into, Bytes bytes) {
    return of_places(OpKind::copy, from, into, bytes, -1);
}
Op Op::reduce(Place from, Place into, Bytes bytes) {
    return of_places(OpKind::reduce, from, into, bytes, -1);
}

std::uint32_t Schedule::add(Op op, std::uint32_t const* after, std::size_t count) {
    if (ops.empty()) {  // Most schedules are this short: one allocation each.
        ops.reserve(8);
        edges.reserve(16);
    }
    op.first_edge = static_cast<std::uint32_t>(edges.size());
    op.edge_count = static_cast<std::uint32_t>(count);
    edges.insert(edges.end(), after, after + count);
    ops.push_back(op);
    return static_cast<std::uint32_t>(ops.size()) - 1;
}

std::uint32_t Schedule::add(Op op, std::vector<std::uint32_t> const& after) {
    return add(op, after.data(), after.size());
}

std::uint32_t Schedule::add(Op op, std::initializer_list<std::uint32_t> after) {
    return add(op, after.begin(), after.size());
}

void Schedule::clear() noexcept {
    ops.clear();
    edges.clear();
}

}  // namespace sluice
