// What a rank tells the others of its call: the record that it brings to the exchange of summaries.
#pragma once
#include "file/run/call.hpp"
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"

namespace sluice {

/// The leader of a node reserves staging memory for it. `pending`: bytes that go straight to the
/// file may not be there yet.
[[nodiscard]] Summary own_summary(ExecutionContext const& execution_context, PlanCache const& plans,
                                  Call const& call, ExchangeState const& state, bool pending);

}  // namespace sluice
