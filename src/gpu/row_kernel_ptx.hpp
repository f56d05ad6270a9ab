// The program that copies rows on a GPU of NVIDIA. Users: cuda_driver.cpp, which says why it is
// wanted; the driver compiles it for its GPU when it is loaded.
#pragma once

namespace sluice {

/// In PTX, for all GPUs since compute capability 5.2.
extern char const* const row_kernel_ptx;

/// Its function. Parameters: the address of a table of Rows, aligned to 16 bytes, that the GPU can
/// read, and how many there are. Threads: x is 32, the lanes of a warp; y divides the rows among
/// warps, and z the pieces of each row. Blocks: y divides rows, and x pieces.
inline constexpr char const* row_kernel_name = "sluice_copy_rows";

}  // namespace sluice
