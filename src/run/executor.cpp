// The interpreter of schedules. See executor.hpp.
#include "run/executor.hpp"

#include "run/transfers.hpp"

#include <cstring>

namespace sluice {
namespace {

/// Tags of different streams, channels and cycles under way differ. MPI grants tags up to 32767 at
/// least: 128 streams x 6 channels x 16 cycles fit.
constexpr int channels = 6, cycles_apart = 16;

}  // namespace

void Executor::admit(Schedule schedule, std::int32_t id) {
    auto activity = std::make_unique<Activity>();
    activity->id = id;
    activity->left = schedule.ops.size();
    activity->steps.resize(schedule.ops.size());
    activity->schedule = std::move(schedule);
    activities_.push_back(std::move(activity));
}

bool Executor::progress(std::vector<std::int32_t>& completed) {
    bool moved = false;
    for (auto& activity : activities_) moved |= advance(*activity);
    std::erase_if(activities_, [&](auto const& activity) {
        if (activity->left > 0) return false;
        completed.push_back(activity->id);
        moved = true;
        return true;
    });
    return moved;
}

bool Executor::advance(Activity& activity) {
    bool moved = false;
    while (activity.first < activity.steps.size() &&
           activity.steps[activity.first].state == OpState::done) {
        ++activity.first;
    }
    for (std::size_t i = activity.first; i < activity.steps.size(); ++i) {
        Op const& op = activity.schedule.ops[i];
        auto& [state, effect] = activity.steps[i];
        if (state == OpState::done || (state == OpState::waiting && !ready(activity, op))) continue;
        bool const begun = state == OpState::started;
        bool const done = begun ? finish(op, effect) : start(op, effect);
        bool const polls = op.kind == OpKind::await;  // Nothing began: ask again next time.
        if (!done && !polls) state = OpState::started;
        if (done) {
            state = OpState::done;
            --activity.left;
        }
        moved |= done || (!begun && !polls);
    }
    return moved;
}

bool Executor::ready(Activity const& activity, Op const& op) const noexcept {
    for (std::uint32_t e = 0; e < op.edge_count; ++e) {
        if (activity.steps[activity.schedule.edges[op.first_edge + e]].state != OpState::done)
            return false;
    }
    return true;
}

bool Executor::start(Op const& op, Effect& effect) {
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
        slot(op).coverage.clear();
        return true;
    case OpKind::send:
    case OpKind::recv:
        start_message(op, effect);
        return false;
    case OpKind::write:
    case OpKind::read:
        if (state_.status != Status::ok) return skip_transfer(op);
        start_transfer(op, effect);
        return finish(op, effect);
    }
    return true;
}

bool Executor::finish(Op const& op, Effect& effect) {
    if (effect.transfer) {
        if (!effect.transfer->done.load(std::memory_order_acquire)) return false;
        finish_transfer(op, *effect.transfer);
        effect.transfer.reset();
        return true;
    }
    if (!site_.network->finished(effect.message)) return false;
    if (op.kind == OpKind::recv) finish_recv(op, effect.message);
    return true;
}

Counter& Executor::counter(Op const& op) const noexcept {
    return site_.window.counter(op.counter, op.channel, op.aggregator, op.cycle);
}

/// Counters of boards have grown by earlier operations; those of slots are counted over the stream.
std::int64_t Executor::base(Op const& op) const noexcept {
    std::int64_t const uses = state_.arrivals_before[op.channel == Channel::agreement ? 1 : 0];
    switch (op.counter) {
    case CounterKind::turn:
    case CounterKind::posted:
        return 0;
    case CounterKind::arrived:
        return uses * site_.local_count();
    case CounterKind::announced:
        return uses;
    case CounterKind::claimed:
        return state_.claims_before * site_.local_count();
    }
    return 0;
}

bool Executor::await(Op const& op) {
    Counter& c = counter(op);
    std::int64_t const needed = base(op) + op.value;
    if (c.value.load(std::memory_order_acquire) >= needed) return true;
    std::uint64_t const own = std::uint64_t{1} << (site_.local() % 64);
    if (op.counter != CounterKind::turn) c.wanted.store(needed, std::memory_order_relaxed);
    if (!(c.waiters.load(std::memory_order_relaxed) & own)) {
        c.waiters.fetch_or(own, std::memory_order_seq_cst);
    }
    return c.value.load(std::memory_order_seq_cst) >= needed;
}

void Executor::notify(Op const& op) {
    Counter& c = counter(op);
    std::int64_t const now = c.value.fetch_add(op.value, std::memory_order_seq_cst) + op.value;
    if (c.waiters.load(std::memory_order_seq_cst) == 0) return;
    if (op.counter != CounterKind::turn && now < c.wanted.load(std::memory_order_relaxed)) return;
    ring_ranks(c.waiters.exchange(0, std::memory_order_seq_cst));
}

/// Whoever still waits after a ring has itself marked again.
void Executor::ring_ranks(std::uint64_t waiters) {
    for (Rank local = 0; local < site_.local_count(); ++local) {
        bool const waits = (waiters >> (local % 64) & 1) != 0;
        if (waits && local != site_.local()) site_.bells->ring(local);
    }
}

Slot Executor::slot(Op const& op) const noexcept {
    return site_.window.slot(op.aggregator, op.cycle, state_.plan.window_bytes,
                             state_.plan.granule_bytes);
}

void Executor::copy(Op const& op) {
    Rank const local = site_.local();
    if (op.target == Memory::board) {
        site_.window.record(op.channel, op.cycle, local) = state_.records[0];
    } else if (op.target == Memory::announcement) {
        site_.window.announcement(op.channel, op.cycle) = state_.records[0];
    } else if (op.source == Memory::announcement) {
        state_.records[0] = site_.window.announcement(op.channel, op.cycle);
    } else if (op.target == Memory::claims) {
        auto const& own = state_.claims->own;
        for (std::size_t a = 0; a < own.size(); ++a) {
            site_.window.claim(op.cycle, local, static_cast<std::int32_t>(a)) = own[a];
        }
    } else if (op.source == Memory::user && op.target == Memory::slot) {
        place(state_.exchanged(), state_.user, state_.window(op), slot(op), !state_.plan.covered);
    } else if (op.source == Memory::user) {
        mark(state_.exchanged(), state_.window(op), slot(op).coverage);
    } else if (op.target == Memory::user) {
        take(state_.exchanged(), state_.user, state_.window(op), slot(op));
    } else {
        copy_message(op);
    }
}

void Executor::copy_message(Op const& op) {
    MessageBuffer& message = state_.message(op);
    Slot const s = slot(op);
    Bytes const window = state_.plan.window_bytes;
    bool sound = true;
    if (op.source == Memory::slot) {
        pack_written(s, message);
    } else if (op.source == Memory::coverage) {
        pack_wanted(s, message);
    } else if (op.source == Memory::want) {
        auto const want =
            state_.wants.find({op.cycle * 64 + op.aggregator, static_cast<Node>(op.value)});
        pack_answer(s, want->second, window, message);
        state_.wants.erase(want);
    } else if (op.target == Memory::want) {
        sound = unpack_wanted(message, s);
        state_.wants[{op.cycle * 64 + op.aggregator, static_cast<Node>(op.value)}] = message;
    } else if (state_.plan.direction == Direction::write) {
        sound = unpack_written(message, s, window);
    } else {
        sound = unpack_answer(message, s);
    }
    if (!sound) state_.fail(Status::other);
}

void Executor::merge(Op const& op) {
    Summary& all = state_.records[0];
    if (op.source == Memory::record) {
        all = sluice::merge(all, state_.records[1]);
        return;
    }
    all = site_.window.record(op.channel, op.cycle, 0);
    for (Rank local = 1; local < site_.local_count(); ++local) {
        all = sluice::merge(all, site_.window.record(op.channel, op.cycle, local));
    }
}

int Executor::tag(Op const& op) const noexcept {
    int const channel = static_cast<int>(op.channel);
    return (site_.stream * channels + channel) * cycles_apart +
           static_cast<int>(op.cycle % cycles_apart);
}

std::span<std::byte> Executor::message_memory(Op const& op) {
    if (op.channel == Channel::survey || op.channel == Channel::agreement) {
        return std::as_writable_bytes(std::span(&state_.records[op.value == 1 ? 1 : 0], 1));
    }
    if (op.channel == Channel::claims) {
        auto& claims = state_.claims->nodes[static_cast<std::size_t>(op.aggregator)];
        return std::as_writable_bytes(std::span(&claims[static_cast<std::size_t>(op.value)], 1));
    }
    MessageBuffer& buffer = state_.message(op);
    if (op.kind == OpKind::recv) {
        buffer.resize(message_bytes_max(state_.plan.window_bytes, state_.plan.granule_bytes));
    }
    return buffer;
}

void Executor::start_message(Op const& op, Effect& effect) {
    if (op.kind == OpKind::recv) {
        effect.message = site_.network->start_recv(op.peer, tag(op), message_memory(op));
        return;
    }
    if (op.channel == Channel::claims) {  // The node's claims: what its ranks posted, joined.
        Claim& mine = state_.claims->nodes[static_cast<std::size_t>(op.aggregator)]
                                          [static_cast<std::size_t>(op.value)];
        for (Rank local = 0; local < site_.local_count(); ++local) {
            mine = join(mine, site_.window.claim(op.cycle, local, op.aggregator));
        }
    }
    effect.message = site_.network->start_send(op.peer, tag(op), message_memory(op));
}

void Executor::finish_recv(Op const& op, Message const& message) {
    if (op.target != Memory::message) return;
    state_.message(op).resize(static_cast<std::size_t>(message.received));
}

std::unique_ptr<Transfer> Executor::slot_transfer(Op const& op, Direction way) const {
    Span const window = state_.window(op);
    Slot const s = slot(op);
    if (!state_.plan.covered) return std::make_unique<SlotTransfer>(way, s, window.begin);
    Span const whole = clip(window, state_.plan.span);
    Segment const segment{whole.begin, s.data + (whole.begin - window.begin), whole.bytes()};
    return std::make_unique<WholeTransfer>(way, segment);
}

void Executor::start_transfer(Op const& op, Effect& effect) {
    Memory const memory = op.kind == OpKind::write ? op.source : op.target;
    Direction const way = op.kind == OpKind::write ? Direction::write : Direction::read;
    if (memory == Memory::user) {
        effect.transfer = std::make_unique<UserTransfer>(state_.request, state_.user);
    } else {
        effect.transfer = slot_transfer(op, way);
    }
    // A hand-over to a storage thread costs more than a short transfer, and a caller that waits has
    // nothing better to do.
    if (state_.caller_transfers)
        state_.for_caller.put(effect.transfer.get());
    else
        storage_.start(*effect.transfer);
}

/// After an error cycles flow on, but the file is left alone, and readers get nothing.
bool Executor::skip_transfer(Op const& op) {
    if (op.target == Memory::slot) slot(op).limit->store(0, std::memory_order_relaxed);
    return true;
}

void Executor::finish_transfer(Op const& op, Transfer const& transfer) {
    state_.fail(transfer.status);
    Memory const memory = op.kind == OpKind::write ? op.source : op.target;
    if (memory == Memory::user) {
        state_.direct_bytes += transfer.bytes;
        return;
    }
    if (op.kind == OpKind::write) return;
    if (transfer.status != Status::ok) {
        skip_transfer(op);
        return;
    }
    state_.end_of_file = std::min(state_.end_of_file, transfer.end_of_file);
    slot(op).limit->store(transfer.end_of_file, std::memory_order_relaxed);
}

std::string Executor::waits_for() const {
    for (auto const& activity : activities_) {
        for (std::size_t i = 0; i < activity->steps.size(); ++i) {
            Op const& op = activity->schedule.ops[i];
            if (activity->steps[i].state == OpState::done || !ready(*activity, op)) continue;
            std::string text = describe(op);
            if (op.kind != OpKind::await) return text;
            auto const now = counter(op).value.load(std::memory_order_relaxed) - base(op);
            return text + " (is " + std::to_string(now) + ")";
        }
    }
    return {};
}

}  // namespace sluice
