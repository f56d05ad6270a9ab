// From statuses to the file's error handler.
#pragma once
#include "transport/mpi_status.hpp"

#include <mpi.h>

namespace sluice {

/// Calls the file's error handler when `status` is an error. Returns the error class, which the
/// interposed function returns in turn. MPI_FILE_NULL stands for the default handler.
int raise(MPI_File file, Status status);

}  // namespace sluice
