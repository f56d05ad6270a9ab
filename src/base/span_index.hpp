// A SpanIndex has values by the spans of the file that they belong to, and finds those that touch a
// span without looking at all of them. Spans may overlap, and need not be different. Pure.
#pragma once
#include "base/extent.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace sluice {

template <typename Value> class SpanIndex {
public:
    [[nodiscard]] std::size_t size() const noexcept { return by_begin_.size(); }

    void add(Span span, Value value) {
        longest_ = by_begin_.empty() ? span.bytes() : std::max(longest_, span.bytes());
        by_begin_.emplace(span.begin, Entry{span.end, std::move(value)});
    }

    /// One value that was added with this span.
    void remove(Span span, Value const& value) {
        auto const [first, last] = by_begin_.equal_range(span.begin);
        auto const found = std::find_if(
            first, last, [&](auto const& entry) { return entry.second.value == value; });
        if (found != last) by_begin_.erase(found);
    }

    /// The largest end; 0 where there is none.
    [[nodiscard]] Offset end() const noexcept {
        Offset last = 0;
        for (auto at = by_begin_.rbegin(); at != by_begin_.rend(); ++at) {
            if (at->first <= last - longest_) break;  // Nor do those before it reach farther.
            last = std::max(last, at->second.end);
        }
        return last;
    }

    /// In the order of their begins. No span is longer than `longest_`, so what begins that far
    /// before `reach` cannot touch it.
    [[nodiscard]] std::vector<Value> touching(Span reach) const {
        std::vector<Value> found;
        auto at = by_begin_.upper_bound(reach.begin - longest_);
        for (; at != by_begin_.end() && at->first < reach.end; ++at) {
            if (!clip({at->first, at->second.end}, reach).empty())
                found.push_back(at->second.value);
        }
        return found;
    }

private:
    struct Entry {
        Offset end;
        Value value;
    };
    std::multimap<Offset, Entry> by_begin_;
    Bytes longest_ = 0;  ///< The longest one that was added since the index was last empty.
};

}  // namespace sluice
