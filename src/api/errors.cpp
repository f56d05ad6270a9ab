// Classes and handlers. See errors.hpp.
#include "api/errors.hpp"

namespace sluice {

int error_class(Status status) noexcept {
    switch (status) {
    case Status::ok:
        return MPI_SUCCESS;
    case Status::other:
        return MPI_ERR_OTHER;
    case Status::mismatch:
        return MPI_ERR_NOT_SAME;
    case Status::io:
        return MPI_ERR_IO;
    case Status::no_memory:
        return MPI_ERR_NO_MEM;
    case Status::bad_file:
        return MPI_ERR_BAD_FILE;
    case Status::no_such_file:
        return MPI_ERR_NO_SUCH_FILE;
    case Status::access:
        return MPI_ERR_ACCESS;
    case Status::read_only:
        return MPI_ERR_READ_ONLY;
    case Status::amode:
        return MPI_ERR_ACCESS;
    case Status::quota:
        return MPI_ERR_QUOTA;
    case Status::no_space:
        return MPI_ERR_NO_SPACE;
    case Status::unsupported:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case Status::split:  // MPI has no class for it.
        return MPI_ERR_OTHER;
    case Status::argument:
        return MPI_ERR_ARG;
    case Status::buffer:
        return MPI_ERR_BUFFER;
    case Status::type:
        return MPI_ERR_TYPE;
    case Status::count:
        return MPI_ERR_COUNT;
    }
    return MPI_ERR_OTHER;
}

int raise(MPI_File file, Status status) {
    int const code = error_class(status);
    if (code != MPI_SUCCESS) PMPI_File_call_errhandler(file, code);
    return code;
}

}  // namespace sluice
