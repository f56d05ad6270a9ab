// The body of Effects: one function for each kind of op. See effects.hpp; what messages need is in
// effects_messages.cpp.
#include "file/run/effects.hpp"

#include "file/run/transfers.hpp"

namespace sluice {
namespace {

Error damaged(Rank peer) noexcept {
    return {.status = Status::other, .what = "a message cannot be unpacked", .peer = peer};
}

}  // namespace

bool Effects::start(Op const& op, Effect& effect) {
    switch (op.kind) {
    case OpKind::await:
        return await(op);
    case OpKind::notify:
        notify(op);
        return true;
    case OpKind::copy:
        copy(op);
        return true;
    case OpKind::merge:
        merge(op);
        return true;
    case OpKind::clear:
        cb_buffer(op).coverage.clear();
        return true;
    case OpKind::send:
    case OpKind::recv:
        start_message(op, effect);
        return false;
    case OpKind::write:
    case OpKind::read:
        if (!state_.may_transfer(op)) return skip_transfer(op);
        start_transfer(op, effect);
        return finish(op, effect);
    case OpKind::reduce:  // Of collectives between memories.
        break;
    }
    return true;
}

bool Effects::finish(Op const& op, Effect& effect) {
    if (effect.transfer) {
        if (!effect.transfer->done.load(std::memory_order_acquire)) return false;
        double const now = execution_context_.clock->now();
        finish_transfer(op, *effect.transfer, now);
        if (state_.trace.on()) state_.trace.transfer(op, *effect.transfer, effect.began, now);
        effect.transfer.reset();
        return true;
    }
    if (!execution_context_.network->finished(effect.message)) return false;
    finish_message(op, effect);
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
    return there && (!obtains(op) || obtain(op));
}

void Effects::notify(Op const& op) {
    Counter& c = counter(op);
    if (op.counter == CounterKind::turn) settle(op, c.value.load(std::memory_order_relaxed));
    if (gives_back(op)) give_back(op);
    std::int64_t const now = c.value.fetch_add(op.count, std::memory_order_seq_cst) + op.count;
    if (op.counter == CounterKind::turn) ring_for_cb_buffers();
    if (c.waiters.load(std::memory_order_seq_cst) == 0) return;
    if (op.counter != CounterKind::turn && now < c.wanted.load(std::memory_order_relaxed)) return;
    ring_ranks(c.waiters.exchange(0, std::memory_order_seq_cst));
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

/// Whoever still waits after a ring has itself marked again.
void Effects::ring_ranks(std::uint64_t waiters) {
    for (Rank local = 0; local < execution_context_.local_count(); ++local) {
        bool const waits = (waiters >> (local % 64) & 1) != 0;
        if (waits && local != execution_context_.local()) execution_context_.doorbells->ring(local);
    }
}

CbBuffer Effects::cb_buffer(Op const& op) const {
    SharedRegion const& region = execution_context_.region;
    execution_context_.open_cb_buffer(region.cb_buffer_of(op.aggregator, op.round) - 1,
                                      state_.plan.window_bytes);
    return region.cb_buffer(op.aggregator, op.round, state_.plan.window_bytes,
                            state_.plan.granule_bytes);
}

void Effects::copy(Op const& op) {
    if (op.channel == Channel::claims) {
        copy_claims(op);
    } else if (is_of_reduction(op)) {
        state_.with_records(op, [&](auto& records) {
            records.copy(op, execution_context_.region, execution_context_.local());
        });
    } else {
        double const begin = execution_context_.clock->now();
        copy_data(op);
        double const end = execution_context_.clock->now();
        state_.tally.copies += end - begin;
        if (state_.trace.on()) state_.trace.copy(op, begin, end);
    }
}

void Effects::copy_data(Op const& op) {
    if (op.target == Memory::message) {
        pack(op);
        tell_work(op);
    } else if (op.source == Memory::message) {
        tell_work(op);
        if (!unpack(op)) state_.fail(damaged(op.peer));
        if (op.target != Memory::want) state_.messages.drop(MessageKey(op));
    } else {
        copy_user(op);
        tell_work(op);
    }
}

/// What a copy of bytes keeps the processor busy with, while its message is there.
void Effects::tell_work(Op const& op) {
    if (!execution_context_.work) return;
    bool const message = op.source == Memory::message || op.target == Memory::message;
    auto bytes = message ? static_cast<Bytes>(state_.messages[MessageKey(op)].size()) : 0;
    std::int64_t pieces = 0;
    if (op.source == Memory::user || op.target == Memory::user) {
        Request const& r = state_.exchanged();
        Window const window = state_.window(op);
        bool const copies = !message && op.target != Memory::coverage;
        for (std::int64_t i = 0; i < window.part_count; ++i) {
            Span const part = positions_in(r, window.part(i));
            pieces += r.view.filetype->piece_count(r.position + part.begin, r.position + part.end);
            if (copies) bytes += part.bytes();
        }
    }
    execution_context_.work->done(bytes, pieces);
}

void Effects::copy_user(Op const& op) {
    Request const& request = state_.exchanged();
    Window const window = state_.window(op);
    if (op.target == Memory::cb_buffer) {
        place(request, state_.user, window, cb_buffer(op), !state_.plan.covered);
    } else if (op.target == Memory::coverage) {
        mark(request, window, cb_buffer(op).coverage);
    } else {
        take(request, state_.user, window, cb_buffer(op));
    }
}

/// The rank's own go to the board; a message holds its sender's own, or those of its node's ranks,
/// joined where they share a collective buffer.
void Effects::copy_claims(Op const& op) {
    auto const a = static_cast<std::size_t>(op.aggregator);
    if (op.target == Memory::claims && op.source == Memory::user) {
        auto const& own = state_.claims->own;
        for (std::size_t i = 0; i < own.size(); ++i) {
            execution_context_.region.claim(op.operation, execution_context_.local(),
                                            static_cast<std::int32_t>(i)) = own[i];
        }
        return;
    }
    if (op.target == Memory::claims) {
        state_.claims_received[op.peer] = state_.messages.take(MessageKey(op));
        return;
    }
    ByteBuffer& message = state_.messages[MessageKey(op)];
    message.clear();
    if (state_.plan.metadata.layers == Layers::one) {
        encode(state_.claims->own[a], message);
        return;
    }
    Claim joined;
    for (Rank local = 0; local < execution_context_.local_count(); ++local) {
        Claim const& claim = execution_context_.region.claim(op.operation, local, op.aggregator);
        if (state_.plan.one_layer()) encode(claim, message);
        joined = join(joined, claim);
    }
    if (!state_.plan.one_layer()) encode(joined, message);
}

void Effects::merge(Op const& op) {
    state_.with_records(op, [&](auto& records) { records.merge(op, execution_context_.region); });
}

std::unique_ptr<Transfer> Effects::cb_buffer_transfer(Op const& op, Direction way) const {
    Window const window = state_.window(op);
    if (!state_.plan.covered)
        return std::make_unique<CbBufferTransfer>(way, cb_buffer(op), window,
                                                  state_.plan.sieve_bytes);
    return std::make_unique<WholeTransfer>(way, cb_buffer(op).data, window,
                                           state_.plan.wanted(op.aggregator));
}

void Effects::start_transfer(Op const& op, Effect& effect) {
    Memory const memory = op.kind == OpKind::write ? op.source : op.target;
    Direction const way = op.kind == OpKind::write ? Direction::write : Direction::read;
    if (memory == Memory::user) {
        effect.transfer =
            std::make_unique<UserTransfer>(state_.request, state_.user, state_.plan.sieve_bytes);
    } else {
        effect.transfer = cb_buffer_transfer(op, way);
    }
    effect.began = execution_context_.clock->now();
    effect.transfer->operation = state_.operation;
    state_.transfers.begin(effect.began);
    // A hand-over to a storage thread costs more than a short transfer, and a caller that waits has
    // nothing better to do.
    if (state_.caller_transfers) {
        state_.for_caller.put(effect.transfer.get());
    } else {
        state_.storage_transfers = true;
        storage_.start(*effect.transfer);
    }
}

/// After most errors rounds flow on, but the file is left alone, and readers get nothing.
bool Effects::skip_transfer(Op const& op) {
    if (op.target == Memory::cb_buffer)
        execution_context_.region.limit(op.aggregator, op.round)
            .store(0, std::memory_order_relaxed);
    return true;
}

void Effects::finish_transfer(Op const& op, Transfer const& transfer, double now) {
    state_.note(transfer.error);
    state_.transfers.end(now);
    Memory const memory = op.kind == OpKind::write ? op.source : op.target;
    if (memory == Memory::user) {
        state_.independent_bytes += static_cast<UserTransfer const&>(transfer).wanted_bytes();
        return;
    }
    if (op.kind == OpKind::write) return;
    if (transfer.error) {
        skip_transfer(op);
        return;
    }
    state_.end_of_file = std::min(state_.end_of_file, transfer.end_of_file);
    execution_context_.region.limit(op.aggregator, op.round)
        .store(transfer.end_of_file, std::memory_order_relaxed);
}

std::string Effects::standing(Op const& op) const {
    auto const now = counter(op).value.load(std::memory_order_acquire) - base(op);
    if (obtains(op) && now >= op.count) return "no collective buffer is free on this node";
    return "stands at " + std::to_string(now);
}

}  // namespace sluice
