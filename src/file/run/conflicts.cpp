// Which operations must be complete before another one begins. See conflicts.hpp.
#include "file/run/conflicts.hpp"

namespace sluice {

bool Conflicts::find(Recent const& own) {
    std::erase_if(queue_.recent, [&](Recent const& earlier) {
        return earlier.number <= own.number - operations_under_way;
    });
    writes_ = own.writes;
    for (Recent const& earlier : queue_.recent) {
        Span const common = clip(own.reach, earlier.reach);
        if (!one_writes(earlier) || common.empty()) continue;
        stretch_ = join(stretch_, common);
        last_ = earlier.number;
    }
    queue_.recent.push_back(own);
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
        if (one_writes(earlier) && earlier.number <= last_)
            own.earlier.mark(earlier.request, stretch_);
    }
    return own;
}

}  // namespace sluice
