// Rows are what a device can be told to copy by itself: pieces of one length at equal steps, on
// both sides. Addresses are numbers, because those of a device mean nothing to the processor. Pure.
// Users: schedule/port.hpp, src/gpu.
#pragma once
#include "base/layout.hpp"

namespace sluice {

/// `count` pieces of `length` bytes; piece i goes from source + i * source_stride to
/// target + i * target_stride.
struct Rows {
    Offset target = 0, source = 0;
    Bytes length = 0;
    std::int64_t count = 1;
    Offset target_stride = 0, source_stride = 0;

    [[nodiscard]] constexpr Bytes bytes() const noexcept { return length * count; }
    [[nodiscard]] constexpr Rows piece(std::int64_t i) const noexcept {
        return {target + i * target_stride, source + i * source_stride, length};
    }
    bool operator==(Rows const&) const = default;
};

/// Rows that copy `bytes` bytes from what lies ahead of `source` to what lies ahead of `target`;
/// their offsets are counted from the addresses `from` and `to`. They are put behind those that are
/// there; pieces that continue the last ones become a part of them.
void append_rows(std::vector<Rows>& rows, Cursor target, Offset to, Cursor source, Offset from,
                 Bytes bytes);

}  // namespace sluice
