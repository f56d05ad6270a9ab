// Stripes of a file that MPI_File_open makes, where the MPI has no driver that asks for them.
#pragma once
#include "settings/file_hints.hpp"

#include <mpi.h>

namespace sluice {

/// Before the MPI opens a file: where `amode` says that it is to be made and the hints say on how
/// many servers, rank 0 makes it so, if the file system has such (Lustre) and the file is not there
/// yet. The MPI then finds it. With MPI_MODE_EXCL it must not, and so nothing is asked for, which
/// is told; nor is it where the program's info, `given`, has hints of a driver of the MPI's for
/// Lustre. `own`: the hints that this library has read of it. May ask a server, on rank 0; other
/// ranks return at once, and come into the MPI's MPI_File_open, which opens no file before rank 0
/// is there.
void stripe_new_file(MPI_Comm communicator, char const* name, int amode, MPI_Info given,
                     FileHints const& own);

}  // namespace sluice
