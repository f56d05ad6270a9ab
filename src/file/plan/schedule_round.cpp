// The generator of one round of the exchange: it sees the plan, the topology and claims. See
// schedule_round.hpp.
#include "file/plan/schedule_round.hpp"

#include "file/plan/coverage.hpp"
#include "file/plan/gate.hpp"

namespace sluice {
namespace {

using Ids = std::vector<std::uint32_t>;

/// The ops of one round of one aggregator, with its numbers and its peers in them.
class RoundOps {
public:
    RoundOps(Topology const& topology, Plan const& plan, RoundInput const& input)
        : topology_(topology),
          plan_(plan),
          in_(input),
          turn_(2 * (input.queue_round / plan.cb_buffer_count)) {}

    std::uint32_t add(Op op, Ids const& after) {
        op.aggregator = in_.aggregator;
        op.round = in_.queue_round;
        return schedule_.add(op, after);
    }
    CounterRef counter(CounterKind kind) const {
        return {.kind = kind, .aggregator = in_.aggregator, .round = in_.queue_round};
    }
    Op await_turn(std::int64_t step, Memory obtained = Memory::none) const {
        return Op::await(counter(CounterKind::turn), turn_ + step, obtained);
    }
    Op advance_turn(std::int64_t steps, Memory given_back = Memory::none) const {
        return Op::notify(counter(CounterKind::turn), steps, given_back);
    }
    /// The round is over on this node.
    Op end_round(std::int64_t steps) const { return advance_turn(steps, Memory::cb_buffer); }
    std::uint32_t clear(Ids const& after) { return add(Op::clear(Memory::coverage), after); }
    Op await_posts(std::int64_t times) const {
        return Op::await(counter(CounterKind::posted), times * in_.local_claimants);
    }
    Op post() const { return Op::notify(counter(CounterKind::posted), 1); }
    Op send(Rank peer, Channel channel) const {
        return Op::send(Memory::message, peer, channel, plan_.data.synchronous);
    }
    Op recv(Rank peer, Channel channel, Bytes data_bytes) const {
        return Op::recv(Memory::message, peer, channel, message_bytes_max(plan_, data_bytes));
    }
    Rank aggregator() const { return sluice::aggregator(topology_, plan_, in_.aggregator); }
    Gate gate(CounterKind kind) { return {schedule_, plan_.data.throttle, counter(kind)}; }
    Schedule take_schedule() { return std::move(schedule_); }

private:
    Topology const& topology_;
    Plan const& plan_;
    RoundInput const& in_;
    std::int64_t turn_;  ///< Of the collective buffer, before this round.
    Schedule schedule_;
};

/// Which of them a rank has, by its parts in the round, and in which order.
class RoundBuilder : private RoundOps {
public:
    RoundBuilder(Topology const& topology, Rank self, Plan const& plan, RoundInput const& input)
        : RoundOps(topology, plan, input),
          topology_(topology),
          self_(self),
          plan_(plan),
          in_(input) {}

    Schedule build() {
        Node const node = topology_.node_of(self_);
        bool const owns = aggregator() == self_;
        bool const local_aggregator =
            sluice::local_aggregator(topology_, plan_, node, in_.aggregator) == self_;
        bool const alone = plan_.one_layer() && topology_.node_of(aggregator()) != node;
        bool const carries = local_aggregator && !owns && !alone && in_.node_claims;
        bool const writes = plan_.direction == Direction::write;
        bool const places = in_.contributes && !alone;
        if (in_.contributes && alone) writes ? send_own() : fetch_own();
        if (!local_aggregator && !places) return take_schedule();
        bool const idle = owns ? !is_wanted() : local_aggregator && !carries;
        bool const fills = places && (writes || !plan_.covered);
        bool const first = fills || (owns && comes_first());
        free_ = add(await_turn(0, first ? Memory::cb_buffer : Memory::none), {});
        if (idle) {  // Nothing for this node.
            add(advance_turn(2), {free_});
            return take_schedule();
        }
        if (places && writes) contribute();
        if (places && !writes && !plan_.covered) ask();
        if (owns) writes ? own_write() : own_read();
        if (carries) writes ? carry_write() : carry_read();
        if (places && !writes) take();
        if (!reading_.empty()) finish_read();
        return take_schedule();
    }

private:
    /// Of the aggregator's node: somebody wants the round.
    bool is_wanted() const { return in_.local_claimants > 0 || !in_.sources.empty(); }
    /// The aggregator needs the collective buffer although no rank of its node may have filled it.
    bool comes_first() const {
        bool const reads_whole = plan_.covered && plan_.direction == Direction::read;
        return !in_.sources.empty() || (reads_whole && is_wanted());
    }
    void contribute() {
        auto const placed = add(Op::copy(Memory::user, Memory::cb_buffer), {free_});
        add(post(), {placed});
    }
    void ask() {
        auto const marked = add(Op::copy(Memory::user, Memory::coverage), {free_});
        add(post(), {marked});
    }
    void take() {
        auto const there = add(await_turn(1), {});
        auto const taken = add(Op::copy(Memory::cb_buffer, Memory::user), {there});
        add(post(), {taken});
    }

    /// One layer: straight from user memory into the message, past the collective buffer.
    void send_own() {
        auto const packed = add(Op::copy(Memory::user, Memory::message, aggregator()), {});
        add(send(aggregator(), Channel::data), {packed});
    }
    void fetch_own() {
        auto const marked = add(Op::copy(Memory::user, Memory::message, aggregator()), {});
        auto const asked = add(send(aggregator(), Channel::want), {marked});
        auto const came = add(recv(aggregator(), Channel::answer, in_.answer_bytes), {asked});
        add(Op::copy(Memory::message, Memory::user, aggregator()), {came});
    }

    /// Takes the message of every source; `target` gets them one by one.
    void take_messages(Channel channel, Memory target, Ids const& after, Ids& done) {
        Gate taken = gate(CounterKind::taken);
        std::int64_t n = in_.taken_before;
        for (RoundSource const& source : in_.sources) {
            Bytes const bytes = channel == Channel::data ? source.bytes : 0;
            auto const came = add(recv(source.rank, channel, bytes), taken.pass(n++, {free_}));
            Ids both = after;
            both.push_back(came);
            done.push_back(add(Op::copy(Memory::message, target, source.rank), both));
            taken.count(done.back());
        }
    }

    void own_write() {
        Ids ready{free_, add(await_posts(1), {free_})};
        take_messages(Channel::data, Memory::cb_buffer, {}, ready);
        auto const written = add(Op::write(Memory::cb_buffer), ready);
        add(end_round(2), {plan_.covered ? written : clear({written})});
    }
    void carry_write() {
        auto const posted = add(await_posts(1), {free_});
        auto const packed =
            add(Op::copy(Memory::cb_buffer, Memory::message, aggregator()), {posted});
        auto const sent = add(send(aggregator(), Channel::data), {packed});
        add(end_round(2), {sent, clear({packed})});
    }

    void own_read() {
        Ids asked{free_};
        if (!plan_.covered) asked.push_back(add(await_posts(1), {free_}));
        take_messages(Channel::want, Memory::want, {}, asked);
        auto const there = add(Op::read(Memory::cb_buffer), asked);
        reading_ = {add(advance_turn(1), {there})};
        Gate answered = gate(CounterKind::answered);
        std::int64_t n = in_.taken_before;
        for (RoundSource const& source : in_.sources) {
            auto const after = answered.pass(n++, {there});
            auto const packed = add(Op::copy(Memory::want, Memory::message, source.rank), after);
            reading_.push_back(add(send(source.rank, Channel::answer), {packed}));
            answered.count(reading_.back());
        }
    }
    void carry_read() {
        auto const posted = add(await_posts(1), {free_});
        auto const packed =
            add(Op::copy(Memory::coverage, Memory::message, aggregator()), {posted});
        auto const asked = add(send(aggregator(), Channel::want), {packed});
        auto const came = add(recv(aggregator(), Channel::answer, in_.answer_bytes), {asked});
        auto const there = add(Op::copy(Memory::message, Memory::cb_buffer, aggregator()), {came});
        reading_ = {add(advance_turn(1), {there})};
    }
    /// The collective buffer is free once the node's ranks have taken their bytes and all answers
    /// are sent.
    void finish_read() {
        Ids after = reading_;
        after.push_back(add(await_posts(posts_a_round(plan_)), {reading_.front()}));
        if (!plan_.covered) after = {clear(after)};
        add(end_round(1), after);
    }

    Topology const& topology_;
    Rank self_;
    Plan const& plan_;
    RoundInput const& in_;
    std::uint32_t free_ = 0;
    Ids reading_;  ///< Local aggregators: what must be done before the collective buffer of a read
                   ///< is free.
};

}  // namespace

Bytes message_bytes_max(Plan const& plan, Bytes bytes) noexcept {
    constexpr Bytes head = 32, stretch = 10;
    auto const coverage =
        static_cast<Bytes>(Coverage::encoded_bytes_max(plan.window_bytes, plan.granule_bytes));
    // An overlap of claimants is counted twice in `bytes`, but no message holds more than a window.
    Bytes const data = std::min(bytes, plan.window_bytes);
    if (data == 0) return coverage;
    return data + std::min(coverage, head + data / plan.granule_bytes * stretch);
}

Schedule make_round(Topology const& topology, Rank self, Plan const& plan,
                    RoundInput const& input) {
    return RoundBuilder(topology, self, plan, input).build();
}

Schedule make_independent(Direction direction) {
    Schedule s;
    s.add(direction == Direction::write ? Op::write(Memory::user) : Op::read(Memory::user), {});
    return s;
}

}  // namespace sluice
