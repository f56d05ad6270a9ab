// The bytes of a replayed file: each follows from its place, so that whoever writes it writes the
// same, and whoever reads it can tell. None is zero, as the bytes are that nobody wrote. No MPI.
#pragma once
#include "base/layout.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice::replay {

/// Bytes of one access: where they are in memory and in the file, as the layouts have them.
struct Transfer {
    std::shared_ptr<Layout const> memory, view;
    Offset displacement = 0;  ///< Of the view.
    Bytes position = 0;       ///< In the view's bytes.
    Bytes bytes = 0;
};

/// Fills `to`, which belongs at the offset of the file.
void fill(std::uint64_t seed, Offset offset, std::byte* to, Bytes bytes) noexcept;

/// Bytes that are neither right nor, where `zero_is_right`, zero.
[[nodiscard]] Bytes wrong_bytes(std::uint64_t seed, Offset offset, std::byte const* of, Bytes bytes,
                                bool zero_is_right) noexcept;

/// Fills the memory of a write. `origin`: where offset 0 of its layout lies.
void fill(std::uint64_t seed, Transfer const& transfer, std::byte* origin);

/// The same as above, of memory that was read into.
[[nodiscard]] Bytes wrong_bytes(std::uint64_t seed, Transfer const& transfer,
                                std::byte const* origin);

/// Calls `visit(Offset in memory, Offset in the file, Bytes)` for pieces of both, in order.
template <class Visit> void for_each_piece(Transfer const& t, Visit&& visit) {
    if (t.bytes == 0) return;
    Cursor memory(*t.memory, 0), file(*t.view, t.position);
    for (Bytes left = t.bytes; left > 0;) {
        Bytes const piece = std::min({left, memory.piece_left(), file.piece_left()});
        visit(memory.offset(), t.displacement + file.offset(), piece);
        left -= piece;
        if (left == 0) break;
        memory.advance_in_piece(piece);
        file.advance_in_piece(piece);
    }
}

}  // namespace sluice::replay
