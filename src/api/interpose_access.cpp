// The collective data-access functions, blocking and nonblocking, with int and with large counts.
// Each hands its arguments on; a file that is not served goes to the MPI.
#include "api/access.hpp"

namespace {

using sluice::Direction;

/// `pass()` is the MPI's own function.
template <class Pass>
int blocking(sluice::AccessArguments const& arguments, MPI_Status* status, Pass&& pass) {
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) return pass();
    return sluice::access_blocking(file, arguments, status);
}

template <class Pass>
int nonblocking(sluice::AccessArguments const& arguments, MPI_Request* request, Pass&& pass) {
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) return pass();
    return sluice::access_nonblocking(file, arguments, request);
}

}  // namespace

// One line a function: the families differ only in names and argument types.
#define SLUICE_BLOCKING(NAME, WAY, BUFFER, COUNT)                                                  \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        return blocking({fh, WAY, false, 0, const_cast<void*>(buf), count, type}, status,          \
                        [&] { return P##NAME(fh, buf, count, type, status); });                    \
    }
#define SLUICE_BLOCKING_AT(NAME, WAY, BUFFER, COUNT)                                               \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             MPI_Status* status) {                                                                 \
        return blocking({fh, WAY, true, offset, const_cast<void*>(buf), count, type}, status,      \
                        [&] { return P##NAME(fh, offset, buf, count, type, status); });            \
    }
#define SLUICE_NONBLOCKING(NAME, WAY, BUFFER, COUNT)                                               \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Request* request) {      \
        return nonblocking({fh, WAY, false, 0, const_cast<void*>(buf), count, type}, request,      \
                           [&] { return P##NAME(fh, buf, count, type, request); });                \
    }
#define SLUICE_NONBLOCKING_AT(NAME, WAY, BUFFER, COUNT)                                            \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             MPI_Request* request) {                                                               \
        return nonblocking({fh, WAY, true, offset, const_cast<void*>(buf), count, type}, request,  \
                           [&] { return P##NAME(fh, offset, buf, count, type, request); });        \
    }

extern "C" {

SLUICE_BLOCKING(MPI_File_write_all, Direction::write, void const*, int)
SLUICE_BLOCKING(MPI_File_read_all, Direction::read, void*, int)
SLUICE_BLOCKING_AT(MPI_File_write_at_all, Direction::write, void const*, int)
SLUICE_BLOCKING_AT(MPI_File_read_at_all, Direction::read, void*, int)
SLUICE_NONBLOCKING(MPI_File_iwrite_all, Direction::write, void const*, int)
SLUICE_NONBLOCKING(MPI_File_iread_all, Direction::read, void*, int)
SLUICE_NONBLOCKING_AT(MPI_File_iwrite_at_all, Direction::write, void const*, int)
SLUICE_NONBLOCKING_AT(MPI_File_iread_at_all, Direction::read, void*, int)

#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_BLOCKING(MPI_File_write_all_c, Direction::write, void const*, MPI_Count)
SLUICE_BLOCKING(MPI_File_read_all_c, Direction::read, void*, MPI_Count)
SLUICE_BLOCKING_AT(MPI_File_write_at_all_c, Direction::write, void const*, MPI_Count)
SLUICE_BLOCKING_AT(MPI_File_read_at_all_c, Direction::read, void*, MPI_Count)
SLUICE_NONBLOCKING(MPI_File_iwrite_all_c, Direction::write, void const*, MPI_Count)
SLUICE_NONBLOCKING(MPI_File_iread_all_c, Direction::read, void*, MPI_Count)
SLUICE_NONBLOCKING_AT(MPI_File_iwrite_at_all_c, Direction::write, void const*, MPI_Count)
SLUICE_NONBLOCKING_AT(MPI_File_iread_at_all_c, Direction::read, void*, MPI_Count)
#endif

}  // extern "C"
