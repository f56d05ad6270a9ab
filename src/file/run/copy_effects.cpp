// How claims and bytes are copied, packed and unpacked. See copy_effects.hpp.
#include "file/run/copy_effects.hpp"

#include "file/run/node_cb_buffers.hpp"

namespace sluice {
namespace {

Error damaged(Rank peer) noexcept {
    return {.status = Status::other, .what = "a message cannot be unpacked", .peer = peer};
}

}  // namespace

bool CopyEffects::start(Op const& op, Effect& effect) {
    if (op.channel == Channel::claims) {
        copy_claims(op);
        return true;
    }
    effect.began = execution_context_.clock->now();
    UserCopies copies(state_.user, state_.plan.direction);
    copy_data(op, copies);
    effect.copy = copies.start();
    if (effect.copy) return finish(op, effect);
    end(op, effect.began);
    return true;
}

bool CopyEffects::finish(Op const& op, Effect& effect) {
    if (!effect.copy->finished()) return false;
    if (Error const error = effect.copy->error()) state_.fail(error);
    effect.copy.reset();
    end(op, effect.began);
    return true;
}

void CopyEffects::end(Op const& op, double began) {
    bool const unpacked = op.source == Memory::message && op.target != Memory::want;
    if (unpacked) state_.messages.drop(MessageKey(op));
    double const now = execution_context_.clock->now();
    state_.tally.copies += now - began;
    if (state_.trace.on()) state_.trace.copy(op, began, now);
}

CbBuffer CopyEffects::cb_buffer(Op const& op) const {
    return cb_buffer_of(execution_context_, state_, op);
}

void CopyEffects::copy_data(Op const& op, UserCopies& copies) {
    if (op.target == Memory::message) {
        pack(op, copies);
        tell_work(op);
    } else if (op.source == Memory::message) {
        tell_work(op);
        if (!unpack(op, copies)) state_.fail(damaged(op.peer));
    } else {
        copy_user(op, copies);
        tell_work(op);
    }
}

/// What a copy of bytes keeps the processor busy with, while its message is there.
void CopyEffects::tell_work(Op const& op) {
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

void CopyEffects::copy_user(Op const& op, UserCopies& copies) {
    Request const& request = state_.exchanged();
    Window const window = state_.window(op);
    CbBuffer const buffer = cb_buffer(op);
    if (op.target == Memory::coverage) return mark(request, window, buffer.coverage);
    if (state_.user.device)
        state_.user.device->hold({buffer.data, static_cast<std::size_t>(state_.plan.window_bytes)});
    if (op.target == Memory::cb_buffer)
        place(request, copies, window, buffer, !state_.plan.covered);
    else
        take(request, copies, window, buffer);
}

/// The rank's own go to the board; a message holds its sender's own, or those of its node's ranks,
/// joined where they share a collective buffer.
void CopyEffects::copy_claims(Op const& op) {
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

void CopyEffects::pack(Op const& op, UserCopies& copies) {
    Packed packed(state_.messages[MessageKey(op)], execution_context_.network->places());
    Plan const& plan = state_.plan;
    if (op.source == Memory::cb_buffer) {
        pack_written(cb_buffer(op), packed);
    } else if (op.source == Memory::coverage) {
        pack_wanted(cb_buffer(op), packed.message);
    } else if (op.source == Memory::want) {
        auto const want = state_.wants.extract(MessageKey(op));
        pack_answer(cb_buffer(op), want.mapped(), plan.window_bytes,
                    plan.one_layer() ? AnswerTo::message : AnswerTo::cb_buffer, packed);
    } else if (plan.direction == Direction::write) {
        pack_own_written(state_.exchanged(), copies, state_.window(op), plan.window_bytes,
                         plan.granule_bytes, packed);
        // Messages of equal tags leave in the order of their rounds.
        if (Error const error = copies.finish()) state_.fail(error);
    } else {
        pack_own_wanted(state_.exchanged(), state_.window(op), plan.window_bytes,
                        plan.granule_bytes, packed.message);
    }
    if (!packed.parts.empty()) state_.placing.emplace(MessageKey(op), std::move(packed));
}

/// False where the message is damaged.
bool CopyEffects::unpack(Op const& op, UserCopies& copies) {
    MessageKey const key(op);
    if (op.target == Memory::want) {
        auto const want = state_.wants.insert_or_assign(key, state_.messages.take(key)).first;
        return unpack_wanted(want->second, cb_buffer(op));
    }
    ByteBuffer& message = state_.messages[key];
    auto const parts = state_.placed.extract(key);
    Bytes const placed = parts.empty() ? 0 : parts.mapped();
    if (op.target == Memory::user) {
        return unpack_own_answer(state_.exchanged(), copies, state_.window(op), message);
    }
    if (state_.plan.direction == Direction::write) {
        return unpack_written(message, placed, cb_buffer(op), state_.plan.window_bytes);
    }
    return unpack_answer(message, placed, cb_buffer(op));
}

}  // namespace sluice
