// How the rows of a copy become calls of a driver, which takes one piece, or rows whose strides are
// positive on both sides, and what of them a program of the device copies better. Pure. Users:
// copy_lane.cpp.
#pragma once
#include "base/request.hpp"
#include "base/rows.hpp"
#include "gpu/held_ranges.hpp"

#include <vector>

namespace sluice {

/// A call costs some microseconds, in which the bus carries more than this.
inline constexpr Bytes short_call_bytes = Bytes{64} << 10;
/// So many short calls are worth no launch of a program.
inline constexpr std::int64_t few_calls = 16;

/// From the first byte of the rows' side on the host to the end of the last one.
[[nodiscard]] Span host_span(Direction way, Rows const& row) noexcept;

/// Whether it is one call.
[[nodiscard]] bool is_one_call(Direction way, Rows const& row, HeldRanges const& held) noexcept;

/// Rows of one copy.
struct DividedRows {
    std::vector<Rows> by_call;
    std::vector<Rows> by_kernel;  ///< Only such whose side on the host is registered.
};
[[nodiscard]] DividedRows divide_rows(Direction way, std::vector<Rows> rows,
                                      HeldRanges const& held);

/// Gives one piece to `issue`, in parts that a driver takes, until it returns false; whether it
/// never did.
template <class Issue>
bool for_each_part(Direction way, Rows piece, HeldRanges const& held, Issue&& issue) {
    while (piece.length > 0) {
        Span const host = host_span(way, piece);
        Bytes const bytes = held.alike_until(host) - host.begin;
        if (!issue(Rows{piece.target, piece.source, bytes})) return false;
        piece.target += bytes;
        piece.source += bytes;
        piece.length -= bytes;
    }
    return true;
}

/// The same with all calls of a row.
template <class Issue>
bool for_each_call(Direction way, Rows const& row, HeldRanges const& held, Issue&& issue) {
    if (is_one_call(way, row, held)) return issue(row);
    for (std::int64_t i = 0; i < row.count; ++i) {
        if (!for_each_part(way, row.piece(i), held, issue)) return false;
    }
    return true;
}

}  // namespace sluice
