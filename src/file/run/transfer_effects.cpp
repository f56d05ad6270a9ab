// What a transfer of the file moves, who makes it, and what its end tells. See
// transfer_effects.hpp.
#include "file/run/transfer_effects.hpp"

#include "file/run/node_cb_buffers.hpp"
#include "file/run/transfers.hpp"

namespace sluice {

std::unique_ptr<Transfer> TransferEffects::cb_buffer_transfer(Op const& op, Direction way) const {
    Window const window = state_.window(op);
    CbBuffer const cb_buffer = cb_buffer_of(execution_context_, state_, op);
    if (!state_.plan.covered)
        return std::make_unique<CbBufferTransfer>(way, cb_buffer, window, state_.plan.sieve_bytes);
    return std::make_unique<WholeTransfer>(way, cb_buffer.data, window,
                                           state_.plan.wanted(op.aggregator));
}

void TransferEffects::start(Op const& op, Effect& effect) {
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

void TransferEffects::skip(Op const& op) {
    if (op.target == Memory::cb_buffer)
        execution_context_.region.limit(op.aggregator, op.round)
            .store(0, std::memory_order_relaxed);
}

bool TransferEffects::finish(Op const& op, Effect& effect) {
    if (!effect.transfer->done.load(std::memory_order_acquire)) return false;
    double const now = execution_context_.clock->now();
    note_end(op, *effect.transfer, now);
    if (state_.trace.on()) state_.trace.transfer(op, *effect.transfer, effect.began, now);
    effect.transfer.reset();
    return true;
}

void TransferEffects::note_end(Op const& op, Transfer const& transfer, double now) {
    state_.note(transfer.error);
    state_.transfers.end(now);
    Memory const memory = op.kind == OpKind::write ? op.source : op.target;
    if (memory == Memory::user) {
        state_.independent_bytes += static_cast<UserTransfer const&>(transfer).wanted_bytes();
        return;
    }
    if (op.kind == OpKind::write) return;
    if (transfer.error) {
        skip(op);
        return;
    }
    state_.end_of_file = std::min(state_.end_of_file, transfer.end_of_file);
    execution_context_.region.limit(op.aggregator, op.round)
        .store(transfer.end_of_file, std::memory_order_relaxed);
}

}  // namespace sluice
