// Handlers. See errors.hpp.
#include "mpi/errors.hpp"

namespace sluice {

int raise(MPI_File file, Status status) {
    int const code = error_class(status);
    if (code != MPI_SUCCESS) PMPI_File_call_errhandler(file, code);
    return code;
}

}  // namespace sluice
