// What the ops of reductions do with their records. See records.hpp.
#include "file/run/records.hpp"

namespace sluice {
namespace {

template <class Record> Record& record_of(Memory role, Record& record, Record& incoming) noexcept {
    return role == Memory::message ? incoming : record;
}

template <class Record> std::span<std::byte> bytes_of(Record& record) noexcept {
    return std::as_writable_bytes(std::span(&record, 1));
}

}  // namespace

void SummaryReduction::copy(Op const& op, SharedRegion const& region, Rank local) noexcept {
    if (op.target == Memory::board) {
        region.record(op.channel, op.operation, local) = record;
    } else if (op.target == Memory::announcement) {
        region.announcement(op.channel, op.operation) = record;
    } else {
        record = region.announcement(op.channel, op.operation);
    }
}

void SummaryReduction::merge(Op const& op, SharedRegion const& region) noexcept {
    if (op.source == Memory::message) {
        record = sluice::merge(record, incoming);
        return;
    }
    record = region.record(op.channel, op.operation, 0);
    for (Rank local = 1; local < region.shape().local_count; ++local) {
        record = sluice::merge(record, region.record(op.channel, op.operation, local));
    }
    if (op.channel == Channel::summary_exchange) close_node(record);
}

void OverlapReduction::copy(Op const& op, SharedRegion const& region, Rank local) noexcept {
    if (op.target == Memory::board) {
        region.overlap(op.operation, local) = record;
    } else if (op.target == Memory::announcement) {
        region.announced_overlap(op.operation) = record;
    } else {
        record = region.announced_overlap(op.operation);
    }
}

void OverlapReduction::merge(Op const& op, SharedRegion const& region) noexcept {
    if (op.source == Memory::message) {
        record |= incoming;
        return;
    }
    for (Rank local = 0; local < region.shape().local_count; ++local) {
        record |= region.overlap(op.operation, local);
    }
}

std::span<std::byte> OverlapReduction::message(Memory role) noexcept {
    return bytes_of(record_of(role, record, incoming));
}

void OverlapReduction::fail(Memory role) noexcept { record_of(role, record, incoming).lose(); }

std::span<std::byte> SummaryReduction::message(Memory role) noexcept {
    return bytes_of(record_of(role, record, incoming));
}

void SummaryReduction::fail(Memory role) noexcept {
    record_of(role, record, incoming).status = Status::other;
}

void WeightsReduction::copy(Op const& op, SharedRegion const& region, Rank) noexcept {
    if (op.target == Memory::board) {
        auto const board = region.weighed(op.operation);
        for (std::size_t i = 0; i < board.size(); ++i) {
            auto const bytes = record.bytes[i];
            if (bytes != 0) board[i].fetch_add(bytes, std::memory_order_relaxed);
        }
    } else if (op.target == Memory::announcement) {
        region.announced_weights(op.operation) = record;
    } else {
        record = region.announced_weights(op.operation);
    }
}

void WeightsReduction::merge(Op const& op, SharedRegion const& region) noexcept {
    if (op.source == Memory::message) {
        record += incoming;
        return;
    }
    auto const board = region.weighed(op.operation);
    for (std::size_t i = 0; i < board.size(); ++i) {
        sums.bytes[i] = board[i].load(std::memory_order_relaxed);
    }
    record = sums;
    record -= sums_before;
}

std::span<std::byte> WeightsReduction::message(Memory role) noexcept {
    return bytes_of(record_of(role, record, incoming));
}

void WeightsReduction::fail(Memory role) noexcept { record_of(role, record, incoming).lost += 1; }

Weights const& WeightsReduction::result() const noexcept {
    static Weights const even = Weights::even();
    return record.lost == 0 ? record : even;
}

}  // namespace sluice
