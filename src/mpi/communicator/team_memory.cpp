// How the memory of a team's operation queues is mapped, and reserved when it is used. See
// team.hpp.
#include "file/plan/staging.hpp"
#include "mpi/communicator/team.hpp"
#include "mpi/environment.hpp"

#include <algorithm>

namespace sluice {

/// Counters and boards are used before collective buffers are reserved. Where pages can be refused
/// one by one the node's leader, who made the file, reserves them here, and all agree that it did.
std::optional<Mapping> Team::map_queue() const {
    auto const begin = static_cast<Offset>(places_.size() * queue_bytes(shape_));
    auto const length = static_cast<Offset>(SharedRegion::bytes_needed(shape_));
    Span const control = SharedRegion::control(shape_);
    auto memory = memory_.part({begin, begin + length});
    bool const reserves = memory_.is_in_file();
    if (memory && !(reserves ? memory->reserve(control) : memory->open(control))) memory.reset();
    return memory;
}

/// Fewer bytes when the node's share is used up; none when the system has no memory.
Bytes Team::reserve(QueuePlace& place, std::int32_t aggregators, Bytes cb_buffer_bytes) {
    auto const many = std::max(aggregators, place.reserved_aggregators);
    Bytes bytes = std::clamp(cb_buffer_bytes, cb_buffer_bytes_least, cb_buffer_bytes_most);
    bytes = std::max(bytes / cb_buffer_bytes_least * cb_buffer_bytes_least,
                     place.reserved_cb_buffer_bytes);
    if (many == place.reserved_aggregators && bytes == place.reserved_cb_buffer_bytes) return bytes;
    Bytes const paid = staging_bytes(place.reserved_aggregators, place.reserved_cb_buffer_bytes);
    for (; bytes >= cb_buffer_bytes_least; bytes = smaller_cb_buffer(bytes)) {
        Bytes const cost = staging_bytes(many, bytes) - paid;
        if (cost > memory_left_ && bytes > cb_buffer_bytes_least) continue;
        if (!back(place, many, bytes)) continue;
        memory_left_ = std::max<Bytes>(0, memory_left_ - cost);
        place.reserved_cb_buffer_bytes = bytes;
        place.reserved_aggregators = many;
        return bytes;
    }
    return 0;
}

bool Team::back(QueuePlace const& place, std::int32_t aggregators, Bytes cb_buffer_bytes) const {
    auto const reserve = [&](Span const& range) { return place.memory.reserve(range); };
    return reserve(SharedRegion::control(shape_)) &&
           std::ranges::all_of(SharedRegion::stretches(shape_, aggregators, cb_buffer_bytes),
                               reserve);
}

/// Of memory that the leader has reserved, so it is there: see Mapping::open().
void Team::open_cb_buffers(QueuePlace& place, std::int32_t aggregators,
                           Bytes cb_buffer_bytes) const {
    if (aggregators <= place.open_aggregators && cb_buffer_bytes <= place.open_cb_buffer_bytes)
        return;
    place.open_aggregators = std::max(aggregators, place.open_aggregators);
    place.open_cb_buffer_bytes = std::max(cb_buffer_bytes, place.open_cb_buffer_bytes);
    for (Span const& range :
         SharedRegion::stretches(shape_, place.open_aggregators, place.open_cb_buffer_bytes)) {
        if (!place.memory.open(range)) warn("the system gives no access to reserved memory");
        if (network)
            network->hold(
                {place.memory.data() + range.begin, static_cast<std::size_t>(range.bytes())});
    }
}

}  // namespace sluice
