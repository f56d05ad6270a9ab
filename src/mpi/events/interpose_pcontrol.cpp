// The library's MPI_Pcontrol: what the standard gives programs to switch a profile off and on.
#include "mpi/events/job_trace.hpp"
#include "mpi/pmpi.hpp"

extern "C" {

/// What comes behind the level is between the program and another tool, which would have to
/// come first.
int MPI_Pcontrol(int const level, ...) {
    sluice::pause_trace(level == 0);
    return PMPI_Pcontrol(level);
}

}  // extern "C"
