// SpanCounts tell how many of the spans that were added cover each place, so that spans which
// overlap can share what there is once for a place, such as a lock of the system. Pure.
#pragma once
#include "base/extent.hpp"

#include <iterator>
#include <map>
#include <utility>

namespace sluice {

class SpanCounts {
public:
    /// Calls `covered` for each stretch that no span has covered before. An empty span has none.
    template <typename Function> void add(Span span, Function&& covered) {
        if (span.empty()) return;
        auto const begin = border(span.begin), end = border(span.end);
        ++begin->second.borders;
        ++end->second.borders;
        each_stretch(begin, end, [](Place& place) { return place.count++ == 0; }, covered);
    }
    /// A span that was added: calls `uncovered` for each stretch that no span covers any more.
    /// Wants no memory.
    template <typename Function> void remove(Span span, Function&& uncovered) {
        if (span.empty()) return;
        auto const begin = all_.find(span.begin), end = all_.find(span.end);
        each_stretch(begin, end, [](Place& place) { return --place.count == 0; }, uncovered);
        if (--begin->second.borders == 0) all_.erase(begin);
        if (--end->second.borders == 0) all_.erase(end);
    }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

private:
    /// From here to the next border.
    struct Place {
        int count = 0;
        int borders = 0;  ///< Of spans that begin or end here.
    };
    using Places = std::map<Offset, Place>;

    Places::iterator border(Offset at) {
        auto const next = all_.lower_bound(at);
        if (next != all_.end() && next->first == at) return next;
        int const count = next == all_.begin() ? 0 : std::prev(next)->second.count;
        return all_.emplace_hint(next, at, Place{count, 0});
    }
    /// Those that `counts`, as long as they can be.
    template <typename Counts, typename Function>
    static void each_stretch(Places::iterator begin, Places::iterator end, Counts&& counts,
                             Function&& function) {
        Span stretch;
        for (auto at = begin; at != end; ++at) {
            Offset const next = std::next(at)->first;
            if (!counts(at->second)) continue;
            if (!stretch.empty() && stretch.end != at->first) function(std::exchange(stretch, {}));
            stretch = {stretch.empty() ? at->first : stretch.begin, next};
        }
        if (!stretch.empty()) function(stretch);
    }

    Places all_;
};

}  // namespace sluice
