// One access of a pattern through a file view, by the kinds of calls that MPI has for it. Each
// function is one access of this rank: a call for each row, the rows following each other in memory
// and in the file from the individual file pointer, or from the view's beginning, on.
#pragma once
#include "bench/file/patterns.hpp"

namespace sluice::bench {

void set_view(MPI_File file, MPI_Offset displacement, Pattern const& pattern, MPI_Info info);

/// Collective. At the individual file pointer.
void run_access(MPI_File file, Pattern const& pattern, std::span<double> buffer, bool writes);
/// The same, nonblocking: a request for each row.
std::vector<MPI_Request> start_access(MPI_File file, Pattern const& pattern,
                                      std::span<double> buffer, bool writes);
void wait_for(std::vector<MPI_Request>& requests);

/// Not collective: independent calls at explicit offsets, blocking or not.
void run_independent(MPI_File file, Pattern const& pattern, std::span<double> buffer, bool writes,
                     bool blocking);

}  // namespace sluice::bench
