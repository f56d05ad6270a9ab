// Who takes which collective buffer of the node. See node_cb_buffers.hpp.
#include "file/run/node_cb_buffers.hpp"

namespace sluice {
namespace {

/// All rounds before it have ended on this node: their local aggregators have gone on.
bool comes_next(ExecutionContext const& execution_context, ExchangeState const& state,
                Op const& op) {
    auto const ended = [&](std::int32_t aggregator, std::int64_t round) {
        CounterRef const turn{.aggregator = aggregator, .round = round};
        return execution_context.region.counter(turn).value.load(std::memory_order_seq_cst) >=
               2 * (round / cb_buffers_per_aggregator) + 2;
    };
    return state.order->is_next(state.operation, op.aggregator, op.round, ended);
}

/// Negative where there is none: some round before this one will give one back, or end without.
std::int32_t take_cb_buffer(ExecutionContext const& execution_context, ExchangeState const& state,
                            Op const& op) {
    SharedRegion const& region = execution_context.region;
    CbBufferPool& pool = region.pool();
    Bytes const bytes = state.plan.window_bytes;
    if (state.plan.staged_whole || !state.order->is_behind_turns(state.operation)) {
        auto const found = pool.take(region.shape().cb_buffers(), bytes, [&](std::int32_t at) {
            return execution_context.back_cb_buffer(at, bytes);
        });
        if (found >= 0) return found;
    }
    if (!pool.is_free(CbBufferPool::last_resort) || !comes_next(execution_context, state, op))
        return -1;
    return pool.take_last_resort() ? CbBufferPool::last_resort : -1;
}

/// Whoever found none while two ranks of this round were at it looks again.
bool find_cb_buffer(ExecutionContext const& execution_context, ExchangeState const& state,
                    Op const& op) {
    SharedRegion const& region = execution_context.region;
    std::int32_t const found = take_cb_buffer(execution_context, state, op);
    if (found < 0) return false;
    std::int32_t none = 0;
    auto& own = region.cb_buffer_of(op.aggregator, op.round);
    if (!own.compare_exchange_strong(none, found + 1, std::memory_order_seq_cst))
        region.pool().give(found);
    ring_for_cb_buffers(execution_context);
    return true;
}

}  // namespace

CbBuffer cb_buffer_of(ExecutionContext const& execution_context, ExchangeState const& state,
                      Op const& op) {
    SharedRegion const& region = execution_context.region;
    execution_context.open_cb_buffer(region.cb_buffer_of(op.aggregator, op.round) - 1,
                                     state.plan.window_bytes);
    return region.cb_buffer(op.aggregator, op.round, state.plan.window_bytes,
                            state.plan.granule_bytes);
}

bool obtain_cb_buffer(ExecutionContext const& execution_context, ExchangeState const& state,
                      Op const& op) {
    SharedRegion const& region = execution_context.region;
    auto const& own = region.cb_buffer_of(op.aggregator, op.round);
    if (own.load(std::memory_order_acquire) != 0 || find_cb_buffer(execution_context, state, op))
        return true;
    mark_waiter(region.pool().waiters, execution_context.local());
    return own.load(std::memory_order_seq_cst) != 0 || find_cb_buffer(execution_context, state, op);
}

void give_back_cb_buffer(ExecutionContext const& execution_context, Op const& op) {
    SharedRegion const& region = execution_context.region;
    auto& own = region.cb_buffer_of(op.aggregator, op.round);
    region.pool().give(own.exchange(0, std::memory_order_seq_cst) - 1);
}

void ring_for_cb_buffers(ExecutionContext const& execution_context) {
    auto& waiters = execution_context.region.pool().waiters;
    if (waiters.load(std::memory_order_seq_cst) == 0) return;
    execution_context.ring(waiters.exchange(0, std::memory_order_seq_cst));
}

}  // namespace sluice
