// Making and merging of summaries. Pure.
#include "core/summary.hpp"

namespace sluice {
namespace {

Span join(Span a, Span b) noexcept {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace

Recall agreed(Recall a, Recall b) noexcept {
    if (a == b || b.operation == Recall::any) return a;
    return a.operation == Recall::any ? b : Recall{};
}

Summary summarise(Request const& request, Bytes counted_bytes) {
    Summary s;
    s.operation = request.direction == Direction::write ? 1 : 2;
    if (request.bytes <= 0) return s;
    s.span = span_of(request);
    s.bytes = request.bytes;
    s.pieces = piece_count(request);
    if (counted_bytes > 0) s.touched = blocks_touched(request, counted_bytes);
    s.alignment = alignment_bits(request);
    if (counted_bytes > 0) {
        // Nodes exchange what they cover in any case: only on one node a proof saves anything.
        auto const borders = sketch(request);
        s.unproven = borders ? 0 : 1;
        if (borders) s.sketch = *borders;
        return s;
    }
    auto const print = fingerprint(request);
    s.unproven = print ? 0 : 1;
    if (print) s.fingerprint = *print;
    return s;
}

Summary merge(Summary const& lower, Summary const& higher) noexcept {
    Summary s = lower;
    bool const both = !lower.span.empty() && !higher.span.empty();
    bool const meets = both && higher.span.begin < lower.span.end;
    s.span = join(lower.span, higher.span);
    s.bytes = lower.bytes + higher.bytes;
    s.pieces = lower.pieces + higher.pieces;
    s.touched = lower.touched + higher.touched;
    s.stretches = lower.stretches + higher.stretches;
    s.sketch += higher.sketch;
    s.alignment = lower.alignment | higher.alignment;
    s.fingerprint = lower.fingerprint + higher.fingerprint;
    s.recall = agreed(lower.recall, higher.recall);
    s.unproven = lower.unproven | higher.unproven;
    s.end_of_file = std::min(lower.end_of_file, higher.end_of_file);
    s.slot_bytes = std::min(lower.slot_bytes, higher.slot_bytes);
    s.slot_count = std::min(lower.slot_count, higher.slot_count);
    s.status = agreed(lower.status, higher.status);
    if (lower.operation != higher.operation) s.status = agreed(s.status, Status::mismatch);
    s.interleaved = lower.interleaved | higher.interleaved | (meets ? 1 : 0);
    s.pending = lower.pending | higher.pending;
    s.hints_differ = lower.hints_differ | higher.hints_differ | (lower.hints != higher.hints);
    s.ranks = lower.ranks + higher.ranks;
    return s;
}

void close_node(Summary& node) noexcept {
    node.stretches = node.sketch.stretches();
    node.sketch = {};
}

}  // namespace sluice
