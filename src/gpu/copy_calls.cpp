// What the driver takes at once, and what it does not. See copy_calls.hpp.
#include "gpu/copy_calls.hpp"

#include "gpu/gpu_driver.hpp"

#include <utility>

namespace sluice {
namespace {

bool is_pitch(Offset stride, Bytes length) noexcept {
    return stride >= length && stride <= longest_pitch;
}

/// Its calls are short ones, and a program of the device reaches all of it.
bool suits_kernel(Direction way, Rows const& row, bool one_call, HeldRanges const& held) noexcept {
    Bytes const of_call = one_call ? row.bytes() : row.length;
    return of_call < short_call_bytes && held.is_registered(host_span(way, row));
}

}  // namespace

Span host_span(Direction way, Rows const& row) noexcept {
    Offset const first = way == Direction::write ? row.target : row.source;
    Offset const stride = way == Direction::write ? row.target_stride : row.source_stride;
    Offset const last = first + (row.count - 1) * stride;
    return {std::min(first, last), std::max(first, last) + row.length};
}

bool is_one_call(Direction way, Rows const& row, HeldRanges const& held) noexcept {
    bool const fits = row.count == 1 || (is_pitch(row.target_stride, row.length) &&
                                         is_pitch(row.source_stride, row.length));
    if (!fits) return false;
    Span const host = host_span(way, row);
    return held.alike_until(host) == host.end;
}

DividedRows divide_rows(Direction way, std::vector<Rows> rows, HeldRanges const& held) {
    std::erase_if(rows, [](Rows const& row) { return row.bytes() <= 0; });
    DividedRows divided;
    std::int64_t short_calls = 0;
    for (Rows const& row : rows) {
        bool const one = is_one_call(way, row, held);
        bool const suits = suits_kernel(way, row, one, held);
        if (suits) short_calls += one ? 1 : row.count;
        (suits ? divided.by_kernel : divided.by_call).push_back(row);
    }
    if (short_calls <= few_calls) return {std::move(rows), {}};
    return divided;
}

}  // namespace sluice
