// Operations as text: for the stall watchdog, for errors and for traces.
#include "file/run/operation.hpp"

#include <algorithm>

namespace sluice {

char const* describe(Stage stage) noexcept {
    switch (stage) {
    case Stage::waiting:
        return "waiting for earlier operations";
    case Stage::summary_exchange:
        return "exchange of summaries";
    case Stage::overlap:
        return "overlap with earlier operations";
    case Stage::weights:
        return "weights";
    case Stage::claims:
        return "claims";
    case Stage::exchange:
        return "exchange";
    case Stage::agreement:
        return "agreement";
    case Stage::complete:
        return "complete";
    }
    return "?";
}

TraceKind kind_of(Stage stage) noexcept {
    switch (stage) {
    case Stage::summary_exchange:
        return TraceKind::summary_exchange;
    case Stage::overlap:
        return TraceKind::overlap;
    case Stage::weights:
        return TraceKind::weights;
    case Stage::claims:
        return TraceKind::claims;
    case Stage::exchange:
        return TraceKind::exchange;
    case Stage::agreement:
        return TraceKind::agreement;
    case Stage::waiting:
    case Stage::complete:
        break;
    }
    return TraceKind::none;
}

TraceKind kind_of(Summary const& all, Direction way) noexcept {
    if (all.bytes + all.independent.bytes == 0) return TraceKind::operation_agree;
    return way == Direction::write ? TraceKind::operation_write : TraceKind::operation_read;
}

void Operation::describe(TraceEvent& wait) const {
    if (!state_.trace.on()) return;
    state_.trace.wait(executor_.waiting_op(), wait);
    bool const nothing = wait.detail == static_cast<std::uint8_t>(TraceWait::unknown);
    if (nothing && (stage_ == Stage::overlap || stage_ == Stage::waiting))
        wait.detail = static_cast<std::uint8_t>(TraceWait::earlier);
}

TraceWait Operation::reason() const {
    Op const* const op = executor_.waiting_op();
    TraceWait const reason = op ? trace_wait_of(*op) : TraceWait::unknown;
    bool const nothing = reason == TraceWait::unknown;
    return nothing && stage_ == Stage::overlap ? TraceWait::earlier : reason;
}

/// The ranks of this node that have not made the call.
void Operation::find_missing(Stall& stall) const {
    bool all_known = true;
    for (Rank local = 0; local < stall.here; ++local) {
        Caller const& caller = execution_context_.region.caller(local);
        if (caller.calls.load(std::memory_order_relaxed) > number()) continue;
        stall.missing += 1;
        auto const rank = caller.rank_in_job.load(std::memory_order_relaxed) - 1;
        all_known &= rank >= 0;
        stall.ranks.push_back(rank);
    }
    if (!all_known) stall.ranks.clear();
    std::ranges::sort(stall.ranks);
}

Stall Operation::stall() const {
    Stall stall{.function = call_.function,
                .file = call_.file,
                .awaits_calls = !all_have_called(),
                .here = execution_context_.local_count(),
                .all = execution_context_.topology->rank_count(),
                .reason = reason()};
    if (stall.awaits_calls) find_missing(stall);
    return stall;
}

std::string Operation::title() const {
    return "operation " + std::to_string(state_.operation) + " (collective " +
           sluice::describe(state_.request.direction) + " of " +
           std::to_string(state_.request.bytes) + " bytes)";
}

std::string Operation::describe() const {
    std::string const text = sluice::describe(stall()) + " [" + title() + ", stage " +
                             sluice::describe(stage_) + rounds_.describe();
    std::string const waits = executor_.waits_for();
    return text + (waits.empty() ? "" : ", " + waits) + "]";
}

}  // namespace sluice
