// The library's MPI_File_ functions for collective data access: blocking, nonblocking and split,
// with int and with large counts. Each looks up the file; where the library does not serve it, the
// call goes to the MPI.
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/access.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"

namespace {

using sluice::AccessArguments;
using sluice::Direction;
using sluice::From;
using sluice::record::recorded_access;

/// `pass()` is the MPI's own function.
template <class Pass>
int blocking(AccessArguments const& arguments, MPI_Status* status, Pass&& pass) {
    auto const recorded = recorded_access(arguments.function, arguments, status);
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) {
        sluice::Delayed::wait_for_all();
        return pass();
    }
    return sluice::guarded(arguments.handle,
                           [&] { return sluice::access_blocking(file, arguments, status); });
}

template <class Pass>
int nonblocking(AccessArguments const& arguments, MPI_Request* request, Pass&& pass) {
    auto const recorded = recorded_access(arguments.function, arguments, request);
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) {
        sluice::Delayed::wait_for_all();
        return pass();
    }
    return sluice::guarded(arguments.handle,
                           [&] { return sluice::access_nonblocking(file, arguments, request); });
}

template <class Pass> int begin(AccessArguments const& arguments, Pass&& pass) {
    auto const recorded =
        recorded_access(arguments.function, arguments, static_cast<MPI_Status*>(nullptr));
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) {
        sluice::Delayed::wait_for_all();
        return pass();
    }
    return sluice::guarded(arguments.handle, [&] { return sluice::access_begin(file, arguments); });
}

template <class Pass>
int end(MPI_File handle, Direction direction, MPI_Status* status, Pass&& pass) {
    auto const recorded = sluice::record::recorded_call("finish", handle);
    auto const file = sluice::find_file(handle);
    if (!file || !file->served()) return pass();
    return sluice::guarded(handle, [&] { return sluice::access_end(file, direction, status); });
}

}  // namespace

// One line a function: the families differ only in names and argument types.
#define SLUICE_BLOCKING(NAME, WAY, BUFFER, COUNT)                                                  \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        SLUICE_TRACED(NAME);                                                                       \
        return blocking({fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type, #NAME},   \
                        status, [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, status); });  \
    }
#define SLUICE_BLOCKING_AT(NAME, WAY, BUFFER, COUNT)                                               \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             MPI_Status* status) {                                                                 \
        SLUICE_TRACED(NAME);                                                                       \
        return blocking(                                                                           \
            {fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type, #NAME}, status,   \
            [&] { return SLUICE_PMPI(NAME)(fh, offset, buf, count, type, status); });              \
    }
#define SLUICE_NONBLOCKING(NAME, WAY, BUFFER, COUNT)                                               \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Request* request) {      \
        SLUICE_TRACED(NAME);                                                                       \
        return nonblocking(                                                                        \
            {fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type, #NAME}, request,      \
            [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, request); });                     \
    }
#define SLUICE_NONBLOCKING_AT(NAME, WAY, BUFFER, COUNT)                                            \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             MPI_Request* request) {                                                               \
        SLUICE_TRACED(NAME);                                                                       \
        return nonblocking(                                                                        \
            {fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type, #NAME}, request,  \
            [&] { return SLUICE_PMPI(NAME)(fh, offset, buf, count, type, request); });             \
    }
#define SLUICE_BEGIN(NAME, WAY, BUFFER, COUNT)                                                     \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type) {                            \
        SLUICE_TRACED(NAME);                                                                       \
        return begin({fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type, #NAME},      \
                     [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type); });                     \
    }
#define SLUICE_BEGIN_AT(NAME, WAY, BUFFER, COUNT)                                                  \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type) {         \
        SLUICE_TRACED(NAME);                                                                       \
        return begin({fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type, #NAME},  \
                     [&] { return SLUICE_PMPI(NAME)(fh, offset, buf, count, type); });             \
    }
#define SLUICE_END(NAME, WAY, BUFFER)                                                              \
    int NAME(MPI_File fh, BUFFER buf, MPI_Status* status) {                                        \
        SLUICE_TRACED(NAME);                                                                       \
        return end(fh, WAY, status, [&] { return SLUICE_PMPI(NAME)(fh, buf, status); });           \
    }
// All functions with a count, for one type of counts.
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_BLOCKING(MPI_File_write_all##SUFFIX, Direction::write, void const*, COUNT)              \
    SLUICE_BLOCKING(MPI_File_read_all##SUFFIX, Direction::read, void*, COUNT)                      \
    SLUICE_BLOCKING_AT(MPI_File_write_at_all##SUFFIX, Direction::write, void const*, COUNT)        \
    SLUICE_BLOCKING_AT(MPI_File_read_at_all##SUFFIX, Direction::read, void*, COUNT)                \
    SLUICE_NONBLOCKING(MPI_File_iwrite_all##SUFFIX, Direction::write, void const*, COUNT)          \
    SLUICE_NONBLOCKING(MPI_File_iread_all##SUFFIX, Direction::read, void*, COUNT)                  \
    SLUICE_NONBLOCKING_AT(MPI_File_iwrite_at_all##SUFFIX, Direction::write, void const*, COUNT)    \
    SLUICE_NONBLOCKING_AT(MPI_File_iread_at_all##SUFFIX, Direction::read, void*, COUNT)            \
    SLUICE_BEGIN(MPI_File_write_all_begin##SUFFIX, Direction::write, void const*, COUNT)           \
    SLUICE_BEGIN(MPI_File_read_all_begin##SUFFIX, Direction::read, void*, COUNT)                   \
    SLUICE_BEGIN_AT(MPI_File_write_at_all_begin##SUFFIX, Direction::write, void const*, COUNT)     \
    SLUICE_BEGIN_AT(MPI_File_read_at_all_begin##SUFFIX, Direction::read, void*, COUNT)

extern "C" {

SLUICE_COUNTED(, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Count)
#endif

SLUICE_END(MPI_File_write_all_end, Direction::write, void const*)
SLUICE_END(MPI_File_read_all_end, Direction::read, void*)
SLUICE_END(MPI_File_write_at_all_end, Direction::write, void const*)
SLUICE_END(MPI_File_read_at_all_end, Direction::read, void*)

}  // extern "C"
