// The generators of schedules. Pure: they see the plan, the topology and claims, nothing else.
#include "core/schedule.hpp"

namespace sluice {
namespace {

using Ids = std::vector<std::uint32_t>;

Op await(CounterKind counter, std::int32_t aggregator, std::int64_t cycle, std::int64_t value) {
    return {.kind = OpKind::await,
            .counter = counter,
            .aggregator = aggregator,
            .cycle = cycle,
            .value = value};
}

Op notify(CounterKind counter, std::int32_t aggregator, std::int64_t cycle, std::int64_t value) {
    return {.kind = OpKind::notify,
            .counter = counter,
            .aggregator = aggregator,
            .cycle = cycle,
            .value = value};
}

/// The ops of one cycle of one aggregator share these.
class CycleBuilder {
public:
    CycleBuilder(Topology const& topology, Rank self, Plan const& plan, CycleInput const& input)
        : topology_(topology),
          self_(self),
          plan_(plan),
          in_(input),
          turn_(2 * (input.stream_cycle / plan.slot_count)) {}

    Schedule build() {
        bool const owns = aggregator() == self_;
        bool const carrier = topology_.carrier(topology_.node_of(self_), in_.aggregator) == self_;
        bool const carries = carrier && !owns && in_.node_claims;
        bool const writes = plan_.direction == Direction::write;
        if (!carrier && !in_.contributes) return {};
        free_ = add(await_turn(0), {});
        if (carrier && !owns && !carries) add(advance_turn(2), {free_});  // Nothing for this node.
        if (in_.contributes && writes) contribute();
        if (in_.contributes && !writes && !plan_.covered) ask();
        if (owns) writes ? own_write() : own_read();
        if (carries) writes ? carry_write() : carry_read();
        if (in_.contributes && !writes) take();
        if (!reading_.empty()) finish_read();
        return std::move(schedule_);
    }

private:
    std::uint32_t add(Op op, Ids const& after) {
        op.aggregator = in_.aggregator;
        op.cycle = in_.stream_cycle;
        return schedule_.add(op, after);
    }
    Op await_turn(std::int64_t step) const {
        return await(CounterKind::turn, in_.aggregator, in_.stream_cycle, turn_ + step);
    }
    Op advance_turn(std::int64_t steps) const {
        return notify(CounterKind::turn, in_.aggregator, in_.stream_cycle, steps);
    }
    Op await_posts(std::int64_t times) const {
        return await(CounterKind::posted, in_.aggregator, in_.stream_cycle,
                     in_.posted_before + times * in_.local_claimants);
    }
    Op post() const { return notify(CounterKind::posted, in_.aggregator, in_.stream_cycle, 1); }
    static Op copy(Memory source, Memory target, std::int64_t node = 0) {
        return {.kind = OpKind::copy, .source = source, .target = target, .value = node};
    }
    static Op send(Rank peer, Channel channel) {
        return {.kind = OpKind::send, .source = Memory::message, .channel = channel, .peer = peer};
    }
    static Op recv(Rank peer, Channel channel) {
        return {.kind = OpKind::recv, .target = Memory::message, .channel = channel, .peer = peer};
    }
    Rank aggregator() const { return topology_.aggregator(in_.aggregator); }

    void contribute() {
        auto const placed = add(copy(Memory::user, Memory::slot), {free_});
        add(post(), {placed});
    }
    void ask() {
        auto const marked = add(copy(Memory::user, Memory::coverage), {free_});
        add(post(), {marked});
    }
    void take() {
        auto const there = add(await_turn(1), {});
        auto const taken = add(copy(Memory::slot, Memory::user), {there});
        add(post(), {taken});
    }

    void own_write() {
        Ids ready{free_, add(await_posts(1), {free_})};
        for (Node const node : in_.other_nodes) {  // One after the other: they share a buffer.
            auto const came = add(recv(topology_.carrier(node, in_.aggregator), Channel::data),
                                  {ready.back(), free_});
            ready.push_back(add(copy(Memory::message, Memory::slot, node), {came}));
        }
        auto const written = add({.kind = OpKind::write, .source = Memory::slot}, ready);
        add(advance_turn(2), {plan_.covered ? written : clear({written})});
    }
    std::uint32_t clear(Ids const& after) {
        return add({.kind = OpKind::clear, .target = Memory::coverage}, after);
    }
    void carry_write() {
        auto const posted = add(await_posts(1), {free_});
        auto const packed = add(copy(Memory::slot, Memory::message), {posted});
        auto const sent = add(send(aggregator(), Channel::data), {packed});
        add(advance_turn(2), {sent, clear({packed})});
    }

    void own_read() {
        Ids asked{free_};
        if (!plan_.covered) asked.push_back(add(await_posts(1), {free_}));
        for (Node const node : in_.other_nodes) {
            auto const came = add(recv(topology_.carrier(node, in_.aggregator), Channel::want),
                                  {asked.back(), free_});
            asked.push_back(add(copy(Memory::message, Memory::want, node), {came}));
        }
        auto const there = add({.kind = OpKind::read, .target = Memory::slot}, asked);
        reading_ = {add(advance_turn(1), {there})};
        for (Node const node : in_.other_nodes) {
            Ids const after{there, reading_.back()};
            auto const packed = add(copy(Memory::want, Memory::message, node), after);
            reading_.push_back(
                add(send(topology_.carrier(node, in_.aggregator), Channel::answer), {packed}));
        }
    }
    void carry_read() {
        auto const posted = add(await_posts(1), {free_});
        auto const packed = add(copy(Memory::coverage, Memory::message), {posted});
        auto const asked = add(send(aggregator(), Channel::want), {packed});
        auto const came = add(recv(aggregator(), Channel::answer), {asked});
        auto const there = add(copy(Memory::message, Memory::slot), {came});
        reading_ = {add(advance_turn(1), {there})};
    }
    /// The slot is free once the node's ranks have taken their bytes and all answers are sent.
    void finish_read() {
        Ids after = reading_;
        after.push_back(add(await_posts(posts_a_cycle(plan_)), {reading_.front()}));
        if (!plan_.covered) after = {clear(after)};
        add(advance_turn(1), after);
    }

    Topology const& topology_;
    Rank self_;
    Plan const& plan_;
    CycleInput const& in_;
    std::int64_t turn_;  ///< Of the slot, before this cycle.
    std::uint32_t free_ = 0;
    Ids reading_;  ///< Carriers: what must be done before the slot of a read is free.
    Schedule schedule_;
};

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

Schedule make_reduction(Topology const& topology, Rank self, Channel channel,
                        std::int64_t operation) {
    Schedule s;
    Node const node = topology.node_of(self);
    std::int64_t const locals = topology.local_count(node);
    Op base{.channel = channel, .cycle = operation};
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

Schedule make_claims_exchange(Topology const& topology, Rank self, Plan const& plan,
                              std::int64_t operation) {
    Schedule s;
    Node const node = topology.node_of(self);
    std::int64_t const locals = topology.local_count(node);
    Op const claims{.source = Memory::claims,
                    .target = Memory::claims,
                    .channel = Channel::claims,
                    .cycle = operation};
    Op op = claims;
    op.kind = OpKind::copy, op.source = Memory::record;
    auto const posted = s.add(op, {});
    op = claims;
    op.kind = OpKind::notify, op.counter = CounterKind::claimed, op.value = 1;
    auto last = s.add(op, {posted});
    op.kind = OpKind::await, op.value = locals;
    bool awaited = false;
    for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
        Rank const aggregator = topology.aggregator(a);
        if (topology.carrier(node, a) != self) continue;
        if (!awaited) last = s.add(op, {last});
        awaited = true;
        Op message = claims;
        message.aggregator = a;
        if (aggregator != self) {
            message.kind = OpKind::send, message.peer = aggregator, message.value = node;
            s.add(message, {last});
            continue;
        }
        for (Node other = 0; other < topology.node_count(); ++other) {
            if (other == node) continue;
            message.kind = OpKind::recv, message.peer = topology.carrier(other, a);
            message.value = other;
            s.add(message, {last});
        }
    }
    return s;
}

Schedule make_cycle(Topology const& topology, Rank self, Plan const& plan,
                    CycleInput const& input) {
    return CycleBuilder(topology, self, plan, input).build();
}

Schedule make_direct(Direction direction) {
    Schedule s;
    bool const write = direction == Direction::write;
    s.add({.kind = write ? OpKind::write : OpKind::read,
           .source = write ? Memory::user : Memory::none,
           .target = write ? Memory::none : Memory::user},
          {});
    return s;
}

}  // namespace sluice
