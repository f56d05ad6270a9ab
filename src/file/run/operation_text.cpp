// What is said of operations. See operation_text.hpp.
#include "file/run/operation_text.hpp"

#include "file/run/operation_trace.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// The rank has made the call, and nobody else is awaited.
bool awaits_device(Unfinished const& what) {
    return what.stage == Stage::waiting && what.call.after && !what.call.after->finished();
}

TraceWait reason_of(Unfinished const& what) {
    if (awaits_device(what)) return TraceWait::given_work;
    TraceWait const reason = what.waits_for ? trace_wait_of(*what.waits_for) : TraceWait::unknown;
    bool const nothing = reason == TraceWait::unknown;
    return nothing && what.stage == Stage::overlap ? TraceWait::earlier : reason;
}

/// The ranks of this node that have not made the call.
void find_missing(ExecutionContext const& execution_context, std::int64_t number, Stall& stall) {
    bool all_known = true;
    for (Rank local = 0; local < stall.here; ++local) {
        Caller const& caller = execution_context.region.caller(local);
        if (caller.calls.load(std::memory_order_relaxed) > number) continue;
        stall.missing += 1;
        auto const rank = caller.rank_in_job.load(std::memory_order_relaxed) - 1;
        all_known &= rank >= 0;
        stall.ranks.push_back(rank);
    }
    if (!all_known) stall.ranks.clear();
    std::ranges::sort(stall.ranks);
}

}  // namespace

Stall stall_of(ExecutionContext const& execution_context, Unfinished const& what) {
    Stall stall{.function = what.call.function,
                .file = what.call.file,
                .awaits_calls = !all_have_called(what.stage) && !awaits_device(what),
                .here = execution_context.local_count(),
                .all = execution_context.topology->rank_count(),
                .reason = reason_of(what)};
    if (stall.awaits_calls) find_missing(execution_context, what.number, stall);
    return stall;
}

std::string title_of(std::int64_t number, Request const& request) {
    return "operation " + std::to_string(number) + " (collective " + describe(request.direction) +
           " of " + std::to_string(request.bytes) + " bytes)";
}

}  // namespace sluice
