// Moves bytes between two scattered layouts in one pass: the inner loop of every exchange.
// Pure in the sense that matters: touches only the memory it is given.
#pragma once
#include "core/layout.hpp"

#include <cstddef>

namespace sluice {

/// Copies `bytes` bytes from what lies ahead of `source` to what lies ahead of `target`; their
/// offsets are counted from `from` and `to`. Nothing is divided, called or allocated for each
/// piece where one side has pieces longer than the other's, or both have equal ones.
void copy(Cursor target, std::byte* to, Cursor source, std::byte const* from, Bytes bytes) noexcept;

}  // namespace sluice
