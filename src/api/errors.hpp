// From statuses to MPI's error classes, and to the file's error handler.
#pragma once
#include "core/status.hpp"

#include <mpi.h>

namespace sluice {

[[nodiscard]] int error_class(Status status) noexcept;

/// Calls the file's error handler when `status` is an error. Returns the error class, which the
/// interposed function returns in turn. MPI_FILE_NULL stands for the default handler.
int raise(MPI_File file, Status status);

}  // namespace sluice
