// How the memory of a team's operation queues is mapped, and reserved when it is used. See
// team.hpp.
#include "file/plan/staging.hpp"
#include "mpi/communicator/team.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>

namespace sluice {

/// Counters and boards are used before collective buffers are reserved. Where pages can be refused
/// one by one the node's leader, who made the file, reserves them here, and all agree that it did.
std::optional<Mapping> Team::map_queue() const {
    auto const begin = static_cast<Offset>(places_.size() * queue_bytes(shape_));
    auto const length = static_cast<Offset>(SharedRegion::bytes_needed(shape_));
    auto memory = memory_.part({begin, begin + length});
    bool const reserves = memory_.is_in_file();
    bool const there = memory && memory->open(SharedRegion::bookkeeping(shape_)) &&
                       (!reserves || memory->reserve(SharedRegion::control(shape_)));
    if (!there) memory.reset();
    return memory;
}

std::atomic<Bytes>& Team::staged_bytes() const {
    return places_.front()->execution_context.region.pool().staged_bytes;
}

/// Smaller windows when the node's share is used up; none when the system has no memory.
Staging Team::reserve(QueuePlace& place, StagingWish const& wish) {
    place.execution_context.region.pool().may_grow();
    if (!back_aggregators(place, wish)) return {};
    bool const known = place.wish.cb_buffer_bytes == wish.cb_buffer_bytes &&
                       place.wish.aggregators == wish.aggregators &&
                       place.wish.whole == wish.whole &&
                       place.staging.cb_buffer_bytes >= usual_cb_buffer(wish.cb_buffer_bytes);
    if (known) return place.staging;
    place.staging = back_cb_buffers(place, wish);
    place.wish = wish;
    return place.staging;
}

bool Team::back_aggregators(QueuePlace& place, StagingWish const& wish) const {
    auto& backed = place.backed_aggregators[static_cast<std::size_t>(wish.operation % board_count)];
    if (backed >= wish.aggregators) return true;
    auto const reserve = [&](Span const& range) { return place.memory.reserve(range); };
    bool const there =
        reserve(SharedRegion::control(shape_)) &&
        std::ranges::all_of(SharedRegion::of_aggregators(shape_, wish.operation, wish.aggregators),
                            reserve);
    if (there) backed = wish.aggregators;
    return there;
}

/// Only the last resort is backed here, which no operation can do without: the others when rounds
/// take them, as long as there is memory. The least windows are granted beyond the limit.
Staging Team::back_cb_buffers(QueuePlace const& place, StagingWish const& wish) const {
    CbBufferPool const& pool = place.execution_context.region.pool();
    auto const all = cb_buffers_of(wish.aggregators);
    bool const whole = wish.whole && all <= shape_.cb_buffers();
    auto const needed = whole ? all : cb_buffers_needed(wish.aggregators);
    auto const now = static_cast<std::int32_t>(whole ? all : 1);
    Bytes own = 0;
    for (std::int32_t at = 0; at < shape_.cb_buffers(); ++at)
        own += staging_bytes(1, pool.backed_bytes(at));
    Bytes const memory = settings().memory_bytes - staged_bytes().load() + own;
    for (Bytes bytes = cb_buffer_bytes_within(memory, needed, wish.cb_buffer_bytes);
         bytes >= cb_buffer_bytes_least; bytes = smaller_cb_buffer(bytes)) {
        std::int32_t at = 0;
        while (at < now && back_cb_buffer(place, at, bytes, Limit::exceeded)) ++at;
        if (at == now) return {bytes, whole};
    }
    return {};
}

/// Ranks that back different collective buffers at the same time are all counted.
bool Team::back_cb_buffer(QueuePlace const& place, std::int32_t cb_buffer, Bytes window_bytes,
                          Limit limit) const {
    CbBufferPool& pool = place.execution_context.region.pool();
    auto const cost = [&](Bytes before) {
        return std::max<Bytes>(0, staging_bytes(1, window_bytes) - staging_bytes(1, before));
    };
    Bytes const before = pool.backed_bytes(cb_buffer);
    if (before >= window_bytes) return true;
    Bytes const asked = cost(before);
    Bytes const staged = staged_bytes().fetch_add(asked) + asked;
    bool const there =
        (limit == Limit::exceeded || staged <= settings().memory_bytes) &&
        std::ranges::all_of(SharedRegion::of_cb_buffer(shape_, cb_buffer, window_bytes),
                            [&](Span const& range) { return place.memory.reserve(range); });
    Bytes const paid = there ? cost(pool.set_backed(cb_buffer, window_bytes)) : 0;
    staged_bytes().fetch_sub(asked - paid);
    return there;
}

/// Of memory that somebody has reserved, so it is there: see Mapping::open().
void Team::open_cb_buffer(QueuePlace& place, std::int32_t cb_buffer, Bytes window_bytes) const {
    place.open_cb_buffers[static_cast<std::size_t>(cb_buffer)] = window_bytes;
    for (Span const& range : SharedRegion::of_cb_buffer(shape_, cb_buffer, window_bytes)) {
        if (!place.memory.open(range)) warn("the system gives no access to reserved memory");
        if (network)
            network->hold(
                {place.memory.data() + range.begin, static_cast<std::size_t>(range.bytes())});
    }
}

}  // namespace sluice
