// What the program's OpenMP would do, if it has one; the library itself uses none.
#pragma once

namespace sluice {

/// Threads of the program's next parallel region; 1 where no OpenMP library is loaded.
[[nodiscard]] int openmp_threads() noexcept;

}  // namespace sluice
