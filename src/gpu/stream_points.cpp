// See stream_points.hpp.
#include "gpu/stream_points.hpp"

#include <algorithm>

namespace sluice {

std::shared_ptr<StreamPoint> StreamPoints::end_of(GpuStream stream, Error& error) {
    std::lock_guard const lock(mutex_);
    EndWatch::Works entry;
    GpuResult const result = begin(stream, entry);
    if (result.failed()) {
        error = driver_.error_of(result);
        return nullptr;
    }
    auto point = std::make_shared<StreamPoint>(entry.front());
    EndWatch& watch = watch_of(stream);
    watch.start();
    watch.take(entry);
    return point;
}

GpuResult StreamPoints::begin(GpuStream stream, EndWatch::Works& entry) {
    GpuContext context;
    GpuResult result = driver_.context_of(stream, context);
    if (result.failed()) return result;
    entry.push_back(std::make_shared<WorkState>(events_of(context)));
    result = entry.front()->take_event();
    return result.failed() ? result : entry.front()->begin(stream);
}

EventPool& StreamPoints::events_of(GpuContext context) {
    auto const known = std::ranges::find(events_, context, &EventPool::context);
    return known == events_.end() ? events_.emplace_back(driver_, context) : *known;
}

/// Points of one stream follow each other, so a stream has one watch while any is ahead.
EndWatch& StreamPoints::watch_of(GpuStream stream) {
    Watched* idle = nullptr;
    for (Watched& one : watches_) {
        bool const is_idle = one.ends.is_idle();
        if (!is_idle && one.stream == stream) return one.ends;
        if (is_idle) idle = &one;
    }
    if (!idle) idle = &watches_.emplace_back(ring_);
    idle->stream = stream;
    return idle->ends;
}

}  // namespace sluice
