// See stream_points.hpp.
#include "gpu/stream_points.hpp"

#include <algorithm>

namespace sluice {

std::shared_ptr<StreamPoint> StreamPoints::end_of(GpuStream stream, Error& error) {
    std::lock_guard const lock(mutex_);
    EndWatch::Works entry;
    Key key{stream, {}, std::this_thread::get_id()};
    GpuResult const result = begin(key, entry);
    if (result.failed()) {
        error = driver_.error_of(result);
        return nullptr;
    }
    auto point = std::make_shared<StreamPoint>(entry.front());
    if (entry.front()->look()) {
        entry.front()->await();  // It returns at once, and has told then.
        return point;
    }
    EndWatch& watch = watch_of(key);
    watch.start();
    watch.take(entry);
    return point;
}

GpuResult StreamPoints::begin(Key& key, EndWatch::Works& entry) {
    GpuResult result = driver_.context_of(key.stream, key.context);
    if (result.failed()) return result;
    entry.push_back(std::make_shared<WorkState>(events_of(key.context)));
    result = entry.front()->take_event();
    return result.failed() ? result : entry.front()->begin(key.stream);
}

EventPool& StreamPoints::events_of(GpuContext context) {
    auto const known = std::ranges::find(events_, context, &EventPool::context);
    return known == events_.end() ? events_.emplace_back(driver_, context) : *known;
}

/// Points of one stream follow each other, so a stream has one watch while any is ahead.
EndWatch& StreamPoints::watch_of(Key const& key) {
    Watched* idle = nullptr;
    for (Watched& one : watches_) {
        bool const is_idle = one.ends.is_idle();
        if (!is_idle && one.key == key) return one.ends;
        if (is_idle) idle = &one;
    }
    if (!idle) idle = &watches_.emplace_back(ring_);
    idle->key = key;
    return idle->ends;
}

}  // namespace sluice
