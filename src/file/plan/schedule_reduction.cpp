// A reduction goes over the board of each node, and between nodes along a tree of leaders. See
// schedule_reduction.hpp.
#include "file/plan/schedule_reduction.hpp"

namespace sluice {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Adds the way up and down a binomial tree of node leaders; returns the last op.
std::uint32_t add_tree(Schedule& s, Topology const& topology, Node node, Op op,
                       std::uint32_t after) {
    auto const leader = [&](Node n) { return topology.leader(n); };
    Ids children;
    for (Node step = 1; step < topology.node_count(); step *= 2) {
        if (node & step) {
            op.kind = OpKind::send, op.source = Memory::record, op.target = Memory::none;
            op.peer = leader(node - step), op.value = 0;
            after = s.add(op, {after});
            op.kind = OpKind::recv, op.source = Memory::none, op.target = Memory::record;
            after = s.add(op, {after});
            break;
        }
        if (node + step >= topology.node_count()) continue;
        op.kind = OpKind::recv, op.source = Memory::none, op.target = Memory::record;
        op.peer = leader(node + step), op.value = 1;
        after = s.add(op, {after});
        op.kind = OpKind::merge, op.source = Memory::record, op.target = Memory::record;
        after = s.add(op, {after});
        children.push_back(static_cast<std::uint32_t>(node + step));
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
        op.kind = OpKind::send, op.source = Memory::record, op.target = Memory::none;
        op.peer = leader(static_cast<Node>(*child)), op.value = 0;
        after = s.add(op, {after});
    }
    return after;
}

}  // namespace

Schedule make_reduction(Topology const& topology, Rank self, Channel channel,
                        std::int64_t operation) {
    Schedule s;
    Node const node = topology.node_of(self);
    std::int64_t const locals = topology.local_count(node);
    Op base{.channel = channel, .round = operation};
    auto const op = [&](OpKind kind, Memory source, Memory target) {
        Op made = base;
        made.kind = kind, made.source = source, made.target = target;
        return made;
    };
    auto const counter = [&](OpKind kind, CounterKind which, std::int64_t value) {
        Op made = base;
        made.kind = kind, made.counter = which, made.value = value;
        return made;
    };
    auto last = s.add(op(OpKind::copy, Memory::record, Memory::board), {});
    last = s.add(counter(OpKind::notify, CounterKind::arrived, 1), {last});
    bool const alone = topology.node_count() == 1;
    if (alone || self == topology.leader(node)) {
        last = s.add(counter(OpKind::await, CounterKind::arrived, locals), {last});
        last = s.add(op(OpKind::merge, Memory::board, Memory::record), {last});
        if (alone) return s;
        last = add_tree(s, topology, node, base, last);
        last = s.add(op(OpKind::copy, Memory::record, Memory::announcement), {last});
        s.add(counter(OpKind::notify, CounterKind::announced, 1), {last});
        return s;
    }
    last = s.add(counter(OpKind::await, CounterKind::announced, 1), {last});
    s.add(op(OpKind::copy, Memory::announcement, Memory::record), {last});
    return s;
}

}  // namespace sluice
