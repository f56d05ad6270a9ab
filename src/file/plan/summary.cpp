// Making and merging of summaries. Pure.
#include "file/plan/summary.hpp"

namespace sluice {
namespace {

Load join(Load const& a, Load const& b) noexcept {
    return {a.bytes + b.bytes,   std::max(a.bytes_most, b.bytes_most),
            a.pieces + b.pieces, std::max(a.pieces_most, b.pieces_most),
            a.ranks + b.ranks,   join(a.span, b.span)};
}

}  // namespace

PlanLookup agreed(PlanLookup a, PlanLookup b) noexcept {
    if (a == b || b.operation == PlanLookup::any) return a;
    return a.operation == PlanLookup::any ? b : PlanLookup{};
}

Load load_of(Request const& request) noexcept {
    if (request.bytes <= 0) return {};
    std::int64_t const pieces = piece_count(request);
    return {request.bytes, request.bytes, pieces, pieces, 1, span_of(request)};
}

Summary summarise(Request const& request, Scope scope) {
    Summary s;
    s.operation = request.direction == Direction::write ? 1 : 2;
    if (request.bytes <= 0) return s;
    s.span = span_of(request);
    s.bytes = s.bytes_most = request.bytes;
    s.pieces = s.pieces_most = piece_count(request);
    if (scope.counted_bytes > 0) s.touched = blocks_touched(request, scope.counted_bytes);
    s.alignment = alignment_bits(request);
    if (scope.stretches) {
        auto const borders = sketch(request);
        s.unsketched = borders ? 0 : 1;
        if (borders) s.sketch = *borders;
    }
    auto const print = scope.key ? fingerprint(request, *scope.key) : std::nullopt;
    s.unproven = print ? 0 : 1;
    if (print) s.fingerprint = *print;
    return s;
}

Summary merge(Summary const& lower, Summary const& higher) noexcept {
    Summary s = lower;
    bool const both = !lower.span.empty() && !higher.span.empty();
    bool const meets = both && higher.span.begin < lower.span.end;
    s.span = join(lower.span, higher.span);
    s.reach = join(lower.reach, higher.reach);
    s.bytes = lower.bytes + higher.bytes;
    s.pieces = lower.pieces + higher.pieces;
    s.bytes_most = std::max(lower.bytes_most, higher.bytes_most);
    s.pieces_most = std::max(lower.pieces_most, higher.pieces_most);
    s.independent = join(lower.independent, higher.independent);
    s.touched = lower.touched + higher.touched;
    s.stretches = lower.stretches + higher.stretches;
    s.sketch += higher.sketch;
    s.alignment = lower.alignment | higher.alignment;
    s.fingerprint = lower.fingerprint + higher.fingerprint;
    s.plan_lookup = agreed(lower.plan_lookup, higher.plan_lookup);
    s.unproven = lower.unproven | higher.unproven;
    s.unsketched = lower.unsketched | higher.unsketched;
    s.end_of_file = std::min(lower.end_of_file, higher.end_of_file);
    s.cb_buffer_bytes = std::min(lower.cb_buffer_bytes, higher.cb_buffer_bytes);
    s.cb_buffer_count = std::min(lower.cb_buffer_count, higher.cb_buffer_count);
    s.staged_whole = lower.staged_whole & higher.staged_whole;
    s.status = agreed(lower.status, higher.status);
    if (lower.operation != higher.operation) s.status = agreed(s.status, Status::mismatch);
    s.interleaved = lower.interleaved | higher.interleaved | (meets ? 1 : 0);
    s.waiting = lower.waiting & higher.waiting;
    s.pending = lower.pending | higher.pending;
    s.hints_differ = lower.hints_differ | higher.hints_differ | (lower.hints != higher.hints);
    s.foretold = std::min(lower.foretold, higher.foretold);
    s.ranks = lower.ranks + higher.ranks;
    return s;
}

bool is_covered(Summary const& all, FingerprintKey const* key) noexcept {
    return key && all.unproven == 0 && all.bytes == all.span.bytes() &&
           all.fingerprint == fingerprint(all.span, *key);
}

void close_node(Summary& node) noexcept {
    node.stretches = node.sketch.stretches();
    node.sketch = {};
}

}  // namespace sluice
