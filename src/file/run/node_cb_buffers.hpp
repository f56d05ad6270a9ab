// How rounds get collective buffers out of those of the node, and give them back.
#pragma once
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"

namespace sluice {

/// That of the op's round, which has one.
[[nodiscard]] CbBuffer cb_buffer_of(ExecutionContext const& execution_context,
                                    ExchangeState const& state, Op const& op);

/// The first rank that needs it obtains it for all ranks of the node; the others find it. False
/// where none is free: the rank is woken when one is.
[[nodiscard]] bool obtain_cb_buffer(ExecutionContext const& execution_context,
                                    ExchangeState const& state, Op const& op);

/// Before the turn says that the round has ended.
void give_back_cb_buffer(ExecutionContext const& execution_context, Op const& op);
/// Afterwards: whoever waits for one looks again.
void ring_for_cb_buffers(ExecutionContext const& execution_context);

}  // namespace sluice
