// How programs of this project that run under mpiexec end after an error of one rank.
#pragma once
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace sluice {

/// Prints why, and ends all ranks. The pause is for mpiexec: MPICH's drops what it has not yet read
/// of a rank's output when the job is aborted.
[[noreturn]] inline void end_job(std::string const& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::fflush(nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

}  // namespace sluice
