// These functions bring errors to the user and to the program: a line on stderr, and a call of the
// file's error handler.
#pragma once
#include "transport/mpi_status.hpp"

#include <mpi.h>
#include <string>

namespace sluice {

/// One sentence with what failed, how much of the file it was asked for, and what the system or the
/// MPI says: "pwritev of 4096 bytes at offset 0: No space left on device (ENOSPC)".
[[nodiscard]] std::string describe(Error const& error);

/// Writes a line to stderr with the rank in MPI_COMM_WORLD, its host, `operation` and the error; on
/// the rank that met the error, where SLUICE_LOG does not forbid it. A process that meets very many
/// says so and is silent from then on. Any thread; nothing happens without an error.
void log_error(std::string const& operation, Error const& error);

/// Calls the file's error handler when `status` is an error. Returns the error class, which the
/// interposed function returns in turn. MPI_FILE_NULL stands for the default handler.
int raise(MPI_File file, Status status);

}  // namespace sluice
