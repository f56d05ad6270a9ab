// A small sorted list. See held_ranges.hpp.
#include "gpu/held_ranges.hpp"

namespace sluice {

HeldRanges::Place HeldRanges::first_behind(Offset offset) const noexcept {
    return std::partition_point(parts_.begin(), parts_.end(),
                                [&](Part const& part) { return part.range.end <= offset; });
}

std::vector<Span> HeldRanges::unknown_parts(Span range) const {
    std::vector<Span> unknown;
    Offset at = range.begin;
    for (auto part = first_behind(at); part != parts_.end() && at < range.end; ++part) {
        Span const gap{at, std::min(part->range.begin, range.end)};
        if (!gap.empty()) unknown.push_back(gap);
        at = part->range.end;
    }
    if (at < range.end) unknown.push_back({at, range.end});
    return unknown;
}

void HeldRanges::add(Span part, bool is_registered) {
    parts_.insert(first_behind(part.begin), {part, is_registered});
}

bool HeldRanges::is_registered(Span range) const noexcept {
    Offset at = range.begin;
    for (auto part = first_behind(at); part != parts_.end() && at < range.end; ++part) {
        if (!part->is_registered || part->range.begin > at) return false;
        at = part->range.end;
    }
    return at >= range.end;
}

Offset HeldRanges::alike_until(Span range) const noexcept {
    for (auto part = first_behind(range.begin); part != parts_.end(); ++part) {
        if (part->range.begin >= range.end) break;
        if (!part->is_registered) continue;
        if (part->range.begin > range.begin) return part->range.begin;
        return std::min(part->range.end, range.end);
    }
    return range.end;
}

}  // namespace sluice
