// The memory that simulated nodes share, and how it runs short. See world.hpp.
#include "simulate/index.hpp"
#include "simulate/world.hpp"

#include <algorithm>

namespace sluice::simulated {

RegionShape World::region_shape(Node node) const noexcept {
    return {topology_.local_count(node), std::max(shape_.aggregators, shape_.aggregators_most),
            shape_.cb_buffer_bytes};
}

SharedRegion World::region(std::int32_t queue, Node node) const {
    return {region_memory_[index(queue)][index(node)].data(), region_shape(node)};
}

/// Pages come into being when they are touched; what is short is short by order.
void World::stage(ExecutionContext& execution_context) const {
    CbBufferPool& pool = execution_context.region.pool();
    auto const room = shape_.cb_buffers < 0 ? cb_buffers_most - 1 : shape_.cb_buffers;
    execution_context.open_cb_buffer = [](std::int32_t, Bytes) {};
    execution_context.back_cb_buffer = [&pool, room](std::int32_t at, Bytes bytes) {
        bool const there = at <= room;
        if (there) pool.set_backed(at, bytes);
        return there;
    };
    execution_context.reserve = [&pool, room, this](StagingWish const& wish) -> Staging {
        pool.may_grow();
        return {shape_.cb_buffer_bytes, cb_buffers_of(wish.aggregators) <= room + 1};
    };
}

std::int32_t World::cb_buffers_in_use(std::int32_t queue, Node node) const {
    CbBufferPool const& pool = region(queue, node).pool();
    std::int32_t many = 0;
    for (std::int32_t at = 0; at < cb_buffers_most; ++at) many += pool.is_free(at) ? 0 : 1;
    return many;
}

std::int32_t World::cb_buffers_made(std::int32_t queue, Node node) const {
    CbBufferPool const& pool = region(queue, node).pool();
    std::int32_t many = 0;
    for (std::int32_t at = 0; at < cb_buffers_most; ++at) many += pool.backed_bytes(at) > 0 ? 1 : 0;
    return many;
}

}  // namespace sluice::simulated
