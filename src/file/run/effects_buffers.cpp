// How rounds get collective buffers out of those of the node, and give them back. See effects.hpp.
#include "file/run/effects.hpp"

namespace sluice {

/// The first rank that needs it obtains it for all ranks of the node; the others find it.
bool Effects::obtain(Op const& op) {
    SharedRegion const& region = execution_context_.region;
    auto const& own = region.cb_buffer_of(op.aggregator, op.round);
    if (own.load(std::memory_order_acquire) != 0 || find_cb_buffer(op)) return true;
    mark_waiter(region.pool().waiters, execution_context_.local());
    return own.load(std::memory_order_seq_cst) != 0 || find_cb_buffer(op);
}

/// Whoever found none while two ranks of this round were at it looks again.
bool Effects::find_cb_buffer(Op const& op) {
    SharedRegion const& region = execution_context_.region;
    std::int32_t const found = take_cb_buffer(op);
    if (found < 0) return false;
    std::int32_t none = 0;
    auto& own = region.cb_buffer_of(op.aggregator, op.round);
    if (!own.compare_exchange_strong(none, found + 1, std::memory_order_seq_cst))
        region.pool().give(found);
    ring_for_cb_buffers();
    return true;
}

/// Negative where there is none: some round before this one will give one back, or end without.
std::int32_t Effects::take_cb_buffer(Op const& op) {
    SharedRegion const& region = execution_context_.region;
    CbBufferPool& pool = region.pool();
    Bytes const bytes = state_.plan.window_bytes;
    if (state_.plan.staged_whole || !state_.order->is_behind_turns(state_.operation)) {
        auto const found = pool.take(region.shape().cb_buffers(), bytes, [&](std::int32_t at) {
            return execution_context_.back_cb_buffer(at, bytes);
        });
        if (found >= 0) return found;
    }
    if (!pool.is_free(CbBufferPool::last_resort) || !comes_next(op)) return -1;
    return pool.take_last_resort() ? CbBufferPool::last_resort : -1;
}

/// All rounds before it have ended on this node: their local aggregators have gone on.
bool Effects::comes_next(Op const& op) {
    auto const ended = [&](std::int32_t aggregator, std::int64_t round) {
        CounterRef const turn{.aggregator = aggregator, .round = round};
        return execution_context_.region.counter(turn).value.load(std::memory_order_seq_cst) >=
               2 * (round / cb_buffers_per_aggregator) + 2;
    };
    return state_.order->is_next(state_.operation, op.aggregator, op.round, ended);
}

/// Before the turn says that the round has ended.
void Effects::give_back(Op const& op) {
    SharedRegion const& region = execution_context_.region;
    auto& own = region.cb_buffer_of(op.aggregator, op.round);
    region.pool().give(own.exchange(0, std::memory_order_seq_cst) - 1);
}

void Effects::ring_for_cb_buffers() {
    auto& waiters = execution_context_.region.pool().waiters;
    if (waiters.load(std::memory_order_seq_cst) == 0) return;
    ring_ranks(waiters.exchange(0, std::memory_order_seq_cst));
}

}  // namespace sluice
