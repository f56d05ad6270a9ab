// Which operations must be complete before another one begins. See conflicts.hpp.
#include "file/run/conflicts.hpp"

namespace sluice {
namespace {

bool conflict(Request const& a, Request const& b) noexcept {
    return a.direction == Direction::write || b.direction == Direction::write;
}

}  // namespace

bool Conflicts::find(std::int64_t number, Span reach, Request const& request) {
    std::erase_if(queue_.recent, [&](Recent const& earlier) {
        return earlier.number <= number - operations_under_way;
    });
    for (Recent const& earlier : queue_.recent) {
        Span const common = clip(reach, earlier.reach);
        if (!conflict(request, earlier.request) || common.empty()) continue;
        stretch_ = join(stretch_, common);
        last_ = earlier.number;
    }
    queue_.recent.push_back({number, reach, request});
    return last_ >= 0;
}

/// Spans say too little: pieces of two operations may lie between each other's.
Overlap Conflicts::marks(Request const& request, bool reads_beyond_end) const {
    Overlap own;
    if (reads_beyond_end)
        own.current.mark_all();
    else
        own.current.mark(request, stretch_);
    for (Recent const& earlier : queue_.recent) {
        if (conflict(request, earlier.request) && earlier.number <= last_)
            own.earlier.mark(earlier.request, stretch_);
    }
    return own;
}

}  // namespace sluice
