// A sieved read (data sieving) reads whole windows of the file and copies from them the pieces that
// a request wants: where pieces lie close together one long request costs less than many short
// ones, and less than telling the system of each piece.
#pragma once
#include "file/run/transfers.hpp"

namespace sluice {

/// Whether it pays: the pieces, with what lies between them, are no longer than `gap_bytes` on
/// average, and they are found by their offsets.
[[nodiscard]] bool sieving_pays(Request const& request, Bytes gap_bytes) noexcept;

/// Reads the request in the calling thread; blocks. `transfer` is the request's own: it gets the
/// error, and where the file ends.
void read_sieved(Request const& request, UserMemory user, Storage& storage, UserTransfer& transfer);

}  // namespace sluice
