// How staging memory is shared out within its limit. See staging_memory.hpp.
#include "file/run/staging_memory.hpp"

#include <algorithm>

namespace sluice {

StagingMemory::StagingMemory(SharedRegion const& region, std::atomic<Bytes>& staged, Bytes limit,
                             System system)
    : region_(region),
      staged_(staged),
      limit_(limit),
      system_(std::move(system)),
      open_bytes_(static_cast<std::size_t>(region.shape().cb_buffers())) {}

void StagingMemory::serve(ExecutionContext& context) {
    context.reserve = [this](StagingWish const& wish) { return reserve(wish); };
    context.back_cb_buffer = [this](std::int32_t cb_buffer, Bytes window_bytes) {
        return back(cb_buffer, window_bytes, Limit::kept);
    };
    context.open_cb_buffer = [this](std::int32_t cb_buffer, Bytes window_bytes) {
        open(cb_buffer, window_bytes);
    };
}

/// Windows are smaller where the limit is reached; there are none where the system has no memory.
Staging StagingMemory::reserve(StagingWish const& wish) {
    region_.pool().may_grow();
    if (!back_aggregators(wish)) return {};
    bool const known = wish_.cb_buffer_bytes == wish.cb_buffer_bytes &&
                       wish_.aggregators == wish.aggregators && wish_.whole == wish.whole &&
                       granted_.cb_buffer_bytes >= usual_cb_buffer(wish.cb_buffer_bytes);
    if (known) return granted_;
    granted_ = back_cb_buffers(wish);
    wish_ = wish;
    return granted_;
}

bool StagingMemory::back_aggregators(StagingWish const& wish) {
    RegionShape const& shape = region_.shape();
    auto& backed = backed_aggregators_[static_cast<std::size_t>(wish.operation % board_count)];
    if (backed >= wish.aggregators) return true;
    bool const there =
        system_.reserve(SharedRegion::control(shape)) &&
        std::ranges::all_of(SharedRegion::of_aggregators(shape, wish.operation, wish.aggregators),
                            system_.reserve);
    if (there) backed = wish.aggregators;
    return there;
}

/// Of collective buffers that rounds take one by one, only the last resort gets memory now, because
/// no operation can do without it; rounds back the others as long as there is memory. The smallest
/// windows are granted beyond the limit.
Staging StagingMemory::back_cb_buffers(StagingWish const& wish) {
    std::int32_t const count = region_.shape().cb_buffers();
    auto const all = cb_buffers_of(wish.aggregators);
    bool const whole = wish.whole && all <= count;
    auto const needed = whole ? all : cb_buffers_needed(wish.aggregators);
    auto const now = static_cast<std::int32_t>(whole ? all : 1);
    Bytes own = 0;
    for (std::int32_t at = 0; at < count; ++at)
        own += staging_bytes(1, region_.pool().backed_bytes(at));
    Bytes const memory = limit_ - staged_.load() + own;
    for (Bytes bytes = cb_buffer_bytes_within(memory, needed, wish.cb_buffer_bytes);
         bytes >= cb_buffer_bytes_least; bytes = smaller_cb_buffer(bytes)) {
        std::int32_t at = 0;
        while (at < now && back(at, bytes, Limit::exceeded)) ++at;
        if (at == now) return {bytes, whole};
    }
    return {};
}

/// Counted before it is reserved, because other ranks may back other collective buffers now.
bool StagingMemory::back(std::int32_t cb_buffer, Bytes window_bytes, Limit limit) {
    CbBufferPool& pool = region_.pool();
    auto const cost = [&](Bytes before) {
        return std::max<Bytes>(0, staging_bytes(1, window_bytes) - staging_bytes(1, before));
    };
    Bytes const before = pool.backed_bytes(cb_buffer);
    if (before >= window_bytes) return true;
    Bytes const asked = cost(before);
    Bytes const staged = staged_.fetch_add(asked) + asked;
    bool const there =
        (limit == Limit::exceeded || staged <= limit_) &&
        std::ranges::all_of(SharedRegion::of_cb_buffer(region_.shape(), cb_buffer, window_bytes),
                            system_.reserve);
    Bytes const paid = there ? cost(pool.set_backed(cb_buffer, window_bytes)) : 0;
    staged_.fetch_sub(asked - paid);
    return there;
}

void StagingMemory::open(std::int32_t cb_buffer, Bytes window_bytes) {
    Bytes& open = open_bytes_[static_cast<std::size_t>(cb_buffer)];
    if (open >= window_bytes) return;
    open = window_bytes;
    for (Span const& range : SharedRegion::of_cb_buffer(region_.shape(), cb_buffer, window_bytes))
        system_.open(range);
}

}  // namespace sluice
