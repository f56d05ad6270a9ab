// The body of the stage of weights. See weighing.hpp.
#include "file/run/weighing.hpp"

namespace sluice {

void Weighing::copy(Op const& op, SharedRegion const& window) noexcept {
    if (op.target == Memory::board) {
        auto const board = window.weighed(op.round);
        for (std::size_t i = 0; i < board.size(); ++i) {
            if (all.bytes[i] != 0) board[i].fetch_add(all.bytes[i], std::memory_order_relaxed);
        }
    } else if (op.target == Memory::announcement) {
        window.announced_weights(op.round) = all;
    } else {
        all = window.announced_weights(op.round);
    }
}

void Weighing::merge(Op const& op, SharedRegion const& window) noexcept {
    if (op.source == Memory::record) {
        all += came;
        return;
    }
    auto const board = window.weighed(op.round);
    for (std::size_t i = 0; i < board.size(); ++i) {
        sums.bytes[i] = board[i].load(std::memory_order_relaxed);
    }
    all = sums;
    all -= sums_before;
}

std::span<std::byte> Weighing::message(Op const& op) noexcept {
    return std::as_writable_bytes(std::span(op.value == 1 ? &came : &all, 1));
}

}  // namespace sluice
