// The functions of sluice.h for persistent collective accesses to files.
#include "mpi/errors.hpp"
#include "mpi/file/persistent.hpp"
#include "mpi/guard.hpp"
#include "sluice/sluice.h"

namespace {

using sluice::AccessArguments;
using sluice::Direction;
using sluice::From;

int make(AccessArguments const& arguments, sluice_request* request) {
    auto const file = sluice::find_file(arguments.handle);
    auto status = sluice::Status::ok;
    auto made = file && file->served() ? sluice::Persistent::make(file, arguments, status)
                                       : sluice::Persistent::make_in_mpi(arguments);
    if (!made) return sluice::raise(arguments.handle, status);
    *request = made.release();
    return MPI_SUCCESS;
}

int init(AccessArguments const& arguments, sluice_request* request) {
    if (!request) return MPI_ERR_ARG;
    *request = SLUICE_REQUEST_NULL;
    if (arguments.handle == MPI_FILE_NULL) return MPI_ERR_FILE;
    return sluice::guarded(arguments.handle, [&] { return make(arguments, request); });
}

}  // namespace

extern "C" {

int sluice_write_at_all_init(MPI_File file, MPI_Offset offset, void const* buffer, MPI_Count count,
                             MPI_Datatype type, sluice_request* request) {
    return init(
        {file, Direction::write, From::offset, offset, const_cast<void*>(buffer), count, type},
        request);
}

int sluice_read_at_all_init(MPI_File file, MPI_Offset offset, void* buffer, MPI_Count count,
                            MPI_Datatype type, sluice_request* request) {
    return init({file, Direction::read, From::offset, offset, buffer, count, type}, request);
}

}  // extern "C"
