// Transfers by POSIX AIO: several requests of a transfer are under way at once, and the thread that
// asked for the transfer waits for them. The C library makes them in threads of its own, those of
// one descriptor one after the other.
#pragma once
#include "ports/batch.hpp"

namespace sluice {

/// Whether the system says that it has POSIX AIO.
[[nodiscard]] bool has_aio() noexcept;

/// Blocks until all of the transfer's requests ended. Sets all results but `done`.
void transfer_by_aio(Transfer& transfer, Route const& route);

}  // namespace sluice
