// Moves bytes between two scattered layouts in one pass: the inner loop of every exchange.
// Pure in the sense that matters: touches only the memory it is given.
#pragma once
#include "core/layout.hpp"

#include <cstddef>
#include <cstring>

namespace sluice {

/// A step in which both sides are strided runs of the same pieces.
struct RunPair {
    Offset a, b;  ///< Offsets of the first piece on both sides.
    Offset stride_a, stride_b;
    Bytes length;  ///< Of each piece.
    std::int64_t count;
};

/// Calls `visit(RunPair)` for `bytes` bytes that lie ahead of both cursors, in stream order.
/// Time is proportional to runs where the two sides have pieces that match or one is contiguous.
template <class Visit> void for_each_run_pair(Cursor a, Cursor b, Bytes bytes, Visit&& visit) {
    while (bytes > 0) {
        Run const ra = a.ahead(), rb = b.ahead();
        Bytes const length = std::min({ra.length, rb.length, bytes});
        bool const whole_a = length == ra.length, whole_b = length == rb.length;
        std::int64_t count = 1;
        Offset stride_a = ra.stride, stride_b = rb.stride;
        if (whole_a && whole_b) {
            count = std::min({ra.count, rb.count, bytes / length});
        } else if (whole_a) {  // b is one long piece: walk through it densely.
            count = std::min({ra.count, rb.length / length, bytes / length});
            stride_b = length;
        } else if (whole_b) {
            count = std::min({rb.count, ra.length / length, bytes / length});
            stride_a = length;
        }
        visit(RunPair{ra.offset, rb.offset, stride_a, stride_b, length, count});
        Bytes const moved = length * count;
        a.advance(moved);
        b.advance(moved);
        bytes -= moved;
    }
}

/// Copies the pieces of side b, counted from `source`, to those of side a, counted from `target`.
void copy_b_to_a(RunPair const& pair, std::byte* target, std::byte const* source) noexcept;

/// Copies the pieces of side a, counted from `source`, to those of side b, counted from `target`.
void copy_a_to_b(RunPair const& pair, std::byte* target, std::byte const* source) noexcept;

}  // namespace sluice
