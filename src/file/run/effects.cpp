// Who carries out an op, and how ranks wait for each other's counters. See effects.hpp.
#include "file/run/effects.hpp"

#include "file/run/node_cb_buffers.hpp"

namespace sluice {

bool Effects::start(Op const& op, Effect& effect) {
    switch (op.kind) {
    case OpKind::await:
        return await(op);
    case OpKind::notify:
        notify(op);
        return true;
    case OpKind::copy:
        return copy(op, effect);
    case OpKind::merge:
        merge(op);
        return true;
    case OpKind::clear:
        cb_buffer_of(execution_context_, state_, op).coverage.clear();
        return true;
    case OpKind::send:
    case OpKind::recv:
        messages_.start(op, effect);
        return false;
    case OpKind::write:
    case OpKind::read:
        if (state_.may_transfer(op)) {
            transfers_.start(op, effect);
            return transfers_.finish(op, effect);
        }
        transfers_.skip(op);
        return true;
    case OpKind::reduce:  // Of collectives between memories.
        break;
    }
    return true;
}

bool Effects::finish(Op const& op, Effect& effect) {
    if (effect.transfer) return transfers_.finish(op, effect);
    if (effect.copy) return copies_.finish(op, effect);
    if (!execution_context_.network->finished(effect.message)) return false;
    messages_.finish(op, effect);
    return true;
}

Counter& Effects::counter(Op const& op) const noexcept {
    if (op.counter == CounterKind::collected) return state_.collected;
    if (op.counter == CounterKind::taken) return state_.taken;
    if (op.counter == CounterKind::answered) return state_.answered;
    return execution_context_.region.counter(op.counter_ref());
}

/// Counters of boards have grown by earlier operations; those of collective buffers are counted
/// over the operation queue.
std::int64_t Effects::base(Op const& op) const noexcept {
    std::int64_t const uses = state_.board_uses_before[boards_of(op.channel)];
    switch (op.counter) {
    case CounterKind::turn:
    case CounterKind::collected:
    case CounterKind::taken:
    case CounterKind::answered:
        return 0;
    case CounterKind::posted:
        return execution_context_.region.settled(op.aggregator, op.round)
            .load(std::memory_order_relaxed);
    case CounterKind::announced:
        return uses;
    case CounterKind::arrived:
    case CounterKind::claimed:
        return uses * execution_context_.local_count();
    }
    return 0;
}

bool Effects::await(Op const& op) {
    Counter& c = counter(op);
    std::int64_t const needed = base(op) + op.count;
    bool there = c.value.load(std::memory_order_acquire) >= needed;
    if (!there) {
        if (op.counter != CounterKind::turn) c.wanted.store(needed, std::memory_order_relaxed);
        mark_waiter(c.waiters, execution_context_.local());
        there = c.value.load(std::memory_order_seq_cst) >= needed;
    }
    return there && (!obtains(op) || obtain_cb_buffer(execution_context_, state_, op));
}

void Effects::notify(Op const& op) {
    Counter& c = counter(op);
    if (op.counter == CounterKind::turn) settle(op, c.value.load(std::memory_order_relaxed));
    if (gives_back(op)) give_back_cb_buffer(execution_context_, op);
    std::int64_t const now = c.value.fetch_add(op.count, std::memory_order_seq_cst) + op.count;
    if (op.counter == CounterKind::turn) ring_for_cb_buffers(execution_context_);
    if (c.waiters.load(std::memory_order_seq_cst) == 0) return;
    if (op.counter != CounterKind::turn && now < c.wanted.load(std::memory_order_relaxed)) return;
    execution_context_.ring(c.waiters.exchange(0, std::memory_order_seq_cst));
}

/// All contributions to a round are there when its local aggregator ends it: with an even turn.
void Effects::settle(Op const& op, std::int64_t turn) {
    if ((turn + op.count) % 2 != 0) return;
    CounterRef ref = op.counter_ref();
    ref.kind = CounterKind::posted;
    Counter const& posted = execution_context_.region.counter(ref);
    execution_context_.region.settled(op.aggregator, op.round)
        .store(posted.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

bool Effects::copy(Op const& op, Effect& effect) {
    if (!is_of_reduction(op)) return copies_.start(op, effect);
    state_.with_records(op, [&](auto& records) {
        records.copy(op, execution_context_.region, execution_context_.local());
    });
    return true;
}

void Effects::merge(Op const& op) {
    state_.with_records(op, [&](auto& records) { records.merge(op, execution_context_.region); });
}

std::string Effects::standing(Op const& op) const {
    auto const now = counter(op).value.load(std::memory_order_acquire) - base(op);
    if (obtains(op) && now >= op.count) return "no collective buffer is free on this node";
    return "stands at " + std::to_string(now);
}

}  // namespace sluice
