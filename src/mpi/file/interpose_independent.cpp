// The library's MPI_File_ functions for independent data access. It serves all of them: ROMIO would
// sieve writes of views with holes, the MPIs convert external32 wrongly, their nonblocking requests
// hang or fail (Open MPI at the end of the file, MPICH when it is asked twice), and none of them
// sees writes that are delayed.
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/access_in_mpi.hpp"
#include "mpi/file/pass_on.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"

#include <optional>

namespace {

using sluice::AccessArguments;
using sluice::Direction;
using sluice::From;
using sluice::record::recorded_access;

/// `result` is the call's status or request.
template <class Result, class Pass>
int alone(char const* name, AccessArguments const& arguments, Result* result, Pass&& pass) {
    auto const recorded = recorded_access(name, arguments, result);
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) {
        std::optional<sluice::PointerLock> lock;
        if (file && arguments.from == From::pointer) lock.emplace(*file);
        return sluice::guarded(arguments.handle, [&] {
            return pass_on(file, [&] { return sluice::access_in_mpi(arguments, result, pass); });
        });
    }
    return sluice::guarded(arguments.handle,
                           [&] { return sluice::access_independent(file, arguments, result); });
}

}  // namespace

#define SLUICE_INDEPENDENT(NAME, WAY, BUFFER, COUNT, RESULT)                                       \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, RESULT result) {             \
        SLUICE_TRACED(NAME);                                                                       \
        return alone(#NAME, {fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type},      \
                     result, [](AccessArguments const& a, RESULT its) {                            \
                         return SLUICE_PMPI(NAME)(a.handle, a.buffer, static_cast<COUNT>(a.count), \
                                                  a.type, its);                                    \
                     });                                                                           \
    }
#define SLUICE_INDEPENDENT_AT(NAME, WAY, BUFFER, COUNT, RESULT)                                    \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             RESULT result) {                                                                      \
        SLUICE_TRACED(NAME);                                                                       \
        return alone(#NAME, {fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type},  \
                     result, [](AccessArguments const& a, RESULT its) {                            \
                         return SLUICE_PMPI(NAME)(a.handle, a.offset, a.buffer,                    \
                                                  static_cast<COUNT>(a.count), a.type, its);       \
                     });                                                                           \
    }
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_INDEPENDENT(MPI_File_write##SUFFIX, Direction::write, void const*, COUNT, MPI_Status*)  \
    SLUICE_INDEPENDENT(MPI_File_read##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)          \
    SLUICE_INDEPENDENT(MPI_File_iwrite##SUFFIX, Direction::write, void const*, COUNT,              \
                       MPI_Request*)                                                               \
    SLUICE_INDEPENDENT(MPI_File_iread##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)        \
    SLUICE_INDEPENDENT_AT(MPI_File_write_at##SUFFIX, Direction::write, void const*, COUNT,         \
                          MPI_Status*)                                                             \
    SLUICE_INDEPENDENT_AT(MPI_File_read_at##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)    \
    SLUICE_INDEPENDENT_AT(MPI_File_iwrite_at##SUFFIX, Direction::write, void const*, COUNT,        \
                          MPI_Request*)                                                            \
    SLUICE_INDEPENDENT_AT(MPI_File_iread_at##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)

extern "C" {

SLUICE_COUNTED(, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Count)
#endif

}  // extern "C"
