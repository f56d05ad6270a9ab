// SLUICE_LOG=2 prints what was done for each file, and how much of the time the program did not
// notice.
#pragma once
#include "mpi/file/file.hpp"

namespace sluice {

/// Whether they are printed at the end.
[[nodiscard]] bool wants_statistics();

/// Adds a closed file's sums over all ranks. Collective over the file's communicator.
void collect_statistics(File const& file);

/// A file was opened, by whomever it is served. Local.
void note_opened();

/// Notes a file that was opened but is not served, and why: for people. Local.
void note_left_to_mpi(std::string const& file, std::string const& why);

/// Rank 0 prints what was collected, and why nothing was served where that is so.
void print_statistics();

}  // namespace sluice
