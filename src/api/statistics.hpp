// SLUICE_STATS=1: what was done for each file, and how much of it the program did not notice.
#pragma once
#include "api/file.hpp"

namespace sluice {

/// Adds a closed file's sums over all ranks. Collective over the file's communicator.
void collect_statistics(File const& file);

/// Rank 0 prints what was collected.
void print_statistics();

}  // namespace sluice
