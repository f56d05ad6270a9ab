// The body of SharedRegion: the order and the alignment of its parts. See shared_region.hpp.
#include "file/run/shared_region.hpp"

#include "base/round_up.hpp"

namespace sluice {
namespace {

constexpr std::size_t page = 4096;

/// Every board begins with them.
struct BoardCounters {
    Counter arrived, announced;
};

/// The records of the node's ranks follow.
struct BoardHead {
    BoardCounters counters;
    Summary announcement;
};

/// Ranks add to `sums`; nobody sets them back.
struct WeightsBoard {
    BoardCounters counters;
    std::atomic<Bytes> sums[Weights::share_count];
    Weights announcement;
};

/// The records of the node's ranks follow.
struct OverlapBoard {
    BoardCounters counters;
    Overlap announcement;
};

/// Data and coverage of one collective buffer; a granule of one byte needs one bit a byte.
std::size_t cb_buffer_stride(RegionShape const& shape) noexcept {
    auto const bytes = static_cast<std::size_t>(shape.cb_buffer_bytes_max);
    return round_up(bytes, page) +
           round_up(Coverage::words_for(shape.cb_buffer_bytes_max, 1) * 8, page);
}

std::size_t claims_board_bytes(RegionShape const& shape, std::int32_t aggregators) noexcept {
    return sizeof(Counter) + static_cast<std::size_t>(shape.local_count) *
                                 static_cast<std::size_t>(aggregators) * sizeof(Claim);
}

Span span_at(std::size_t begin, std::size_t bytes) noexcept {
    return {static_cast<Offset>(begin), static_cast<Offset>(begin + bytes)};
}

}  // namespace

/// Of every fourth round of an aggregator: it begins when the one before has ended.
struct SharedRegion::RoundPlace {
    Counter turn, posted;
    std::atomic<std::int64_t> limit, settled;
};

/// What grows with the aggregators that there can be comes behind the rest: it has memory as far as
/// it is used.
struct SharedRegion::Places {
    std::size_t board_bytes, weights_at, overlaps_at, overlap_bytes, pool_at, callers_at, beside_at,
        rounds_at, claims_at, claims_bytes, data_at, end;
};

SharedRegion::Places SharedRegion::places(RegionShape const& shape) noexcept {
    auto const locals = static_cast<std::size_t>(shape.local_count);
    auto const rounds =
        static_cast<std::size_t>(shape.aggregator_count) * cb_buffers_per_aggregator;
    Places p{};
    p.board_bytes = round_up(sizeof(BoardHead) + locals * round_up(sizeof(Summary), 64), 64);
    p.weights_at = 2 * static_cast<std::size_t>(board_count) * p.board_bytes;
    p.overlaps_at = p.weights_at + static_cast<std::size_t>(board_count) * sizeof(WeightsBoard);
    p.overlap_bytes = round_up(sizeof(OverlapBoard) + locals * sizeof(Overlap), 64);
    p.pool_at = p.overlaps_at + static_cast<std::size_t>(board_count) * p.overlap_bytes;
    p.callers_at = round_up(p.pool_at + sizeof(CbBufferPool), alignof(Caller));
    p.beside_at = p.callers_at + locals * sizeof(Caller);
    p.rounds_at = round_up(p.beside_at + shape.beside_bytes, 64);
    p.claims_at = p.rounds_at + rounds * sizeof(RoundPlace);
    p.claims_bytes = round_up(claims_board_bytes(shape, shape.aggregator_count), 64);
    p.data_at =
        round_up(p.claims_at + static_cast<std::size_t>(board_count) * p.claims_bytes, page);
    p.end = p.data_at + static_cast<std::size_t>(shape.cb_buffers()) * cb_buffer_stride(shape);
    return p;
}

SharedRegion::SharedRegion(std::byte* memory, RegionShape shape) noexcept
    : memory_(memory),
      shape_(shape) {
    Places const p = places(shape);
    board_bytes_ = p.board_bytes;
    weights_at_ = p.weights_at;
    overlaps_at_ = p.overlaps_at;
    overlap_bytes_ = p.overlap_bytes;
    claims_at_ = p.claims_at;
    claims_bytes_ = p.claims_bytes;
    rounds_at_ = p.rounds_at;
    pool_at_ = p.pool_at;
    callers_at_ = p.callers_at;
    beside_at_ = p.beside_at;
    data_at_ = p.data_at;
}

std::size_t SharedRegion::bytes_needed(RegionShape const& shape) noexcept {
    return places(shape).end;
}

Span SharedRegion::control(RegionShape const& shape) noexcept {
    return {0, static_cast<Offset>(places(shape).rounds_at)};
}

Span SharedRegion::bookkeeping(RegionShape const& shape) noexcept {
    return {0, static_cast<Offset>(places(shape).data_at)};
}

std::array<Span, 2> SharedRegion::of_aggregators(RegionShape const& shape, std::int64_t operation,
                                                 std::int32_t aggregators) noexcept {
    Places const p = places(shape);
    auto const board = board_of(operation);
    auto const rounds = static_cast<std::size_t>(aggregators) * cb_buffers_per_aggregator;
    return {span_at(p.rounds_at, rounds * sizeof(RoundPlace)),
            span_at(p.claims_at + board * p.claims_bytes, claims_board_bytes(shape, aggregators))};
}

std::array<Span, 2> SharedRegion::of_cb_buffer(RegionShape const& shape, std::int32_t cb_buffer,
                                               Bytes window_bytes) noexcept {
    auto const bytes = static_cast<std::size_t>(window_bytes);
    auto const data =
        places(shape).data_at + static_cast<std::size_t>(cb_buffer) * cb_buffer_stride(shape);
    auto const coverage =
        data + round_up(static_cast<std::size_t>(shape.cb_buffer_bytes_max), page);
    return {span_at(data, bytes), span_at(coverage, bytes / 8 + 8)};
}

std::size_t SharedRegion::board(Channel channel, std::int64_t operation) const noexcept {
    auto const index = board_of(operation);
    if (channel == Channel::weights) return weights_at_ + index * sizeof(WeightsBoard);
    if (channel == Channel::overlap) return overlaps_at_ + index * overlap_bytes_;
    return (2 * index + (channel == Channel::agreement ? 1 : 0)) * board_bytes_;
}

SharedRegion::RoundPlace& SharedRegion::round_place(std::int32_t aggregator,
                                                    std::int64_t round) const noexcept {
    auto const index = static_cast<std::size_t>(aggregator) * cb_buffers_per_aggregator +
                       static_cast<std::size_t>(round % cb_buffers_per_aggregator);
    return at<RoundPlace>(rounds_at_)[index];
}

Counter& SharedRegion::counter(CounterRef const& ref) const noexcept {
    auto* const of_board = at<BoardCounters>(board(ref.channel, ref.operation));
    switch (ref.kind) {
    case CounterKind::turn:
        return round_place(ref.aggregator, ref.round).turn;
    case CounterKind::posted:
        return round_place(ref.aggregator, ref.round).posted;
    case CounterKind::arrived:
        return of_board->arrived;
    case CounterKind::announced:
        return of_board->announced;
    case CounterKind::claimed:
    case CounterKind::collected:  // These three are a rank's own, not of a window.
    case CounterKind::taken:
    case CounterKind::answered:
        break;
    }
    auto const index = board_of(ref.operation);
    return *at<Counter>(claims_at_ + index * claims_bytes_);
}

std::atomic<std::int64_t>& SharedRegion::settled(std::int32_t aggregator,
                                                 std::int64_t round) const noexcept {
    return round_place(aggregator, round).settled;
}

std::atomic<std::int64_t>& SharedRegion::limit(std::int32_t aggregator,
                                               std::int64_t round) const noexcept {
    return round_place(aggregator, round).limit;
}

std::atomic<std::int32_t>& SharedRegion::cb_buffer_of(std::int32_t aggregator,
                                                      std::int64_t round) const noexcept {
    return round_place(aggregator, round).turn.cb_buffer;
}

Summary& SharedRegion::record(Channel channel, std::int64_t operation, Rank local) const noexcept {
    auto const first = board(channel, operation) + sizeof(BoardHead);
    return *at<Summary>(first + static_cast<std::size_t>(local) * round_up(sizeof(Summary), 64));
}

Summary& SharedRegion::announcement(Channel channel, std::int64_t operation) const noexcept {
    return at<BoardHead>(board(channel, operation))->announcement;
}

std::span<std::atomic<Bytes>, Weights::share_count>
SharedRegion::weighed(std::int64_t operation) const noexcept {
    return at<WeightsBoard>(board(Channel::weights, operation))->sums;
}

Weights& SharedRegion::announced_weights(std::int64_t operation) const noexcept {
    return at<WeightsBoard>(board(Channel::weights, operation))->announcement;
}

Overlap& SharedRegion::overlap(std::int64_t operation, Rank local) const noexcept {
    return at<Overlap>(board(Channel::overlap, operation) + sizeof(OverlapBoard))[local];
}

Overlap& SharedRegion::announced_overlap(std::int64_t operation) const noexcept {
    return at<OverlapBoard>(board(Channel::overlap, operation))->announcement;
}

Claim& SharedRegion::claim(std::int64_t operation, Rank local, std::int32_t a) const noexcept {
    auto const index = board_of(operation);
    auto* const first = at<Claim>(claims_at_ + index * claims_bytes_ + sizeof(Counter));
    return first[local * shape_.aggregator_count + a];
}

CbBuffer SharedRegion::cb_buffer(std::int32_t aggregator, std::int64_t round, Bytes window_bytes,
                                 Bytes granule_bytes) const noexcept {
    RoundPlace& place = round_place(aggregator, round);
    auto const index = place.turn.cb_buffer.load(std::memory_order_acquire) - 1;
    std::byte* const data =
        memory_ + data_at_ + static_cast<std::size_t>(index) * cb_buffer_stride(shape_);
    auto* const words = reinterpret_cast<std::uint64_t*>(
        data + round_up(static_cast<std::size_t>(shape_.cb_buffer_bytes_max), page));
    std::span<std::uint64_t> const bits(words, Coverage::words_for(window_bytes, granule_bytes));
    return {data, Coverage(bits, granule_bytes, window_bytes), &place.limit};
}

}  // namespace sluice
