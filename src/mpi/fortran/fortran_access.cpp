// Data access for Fortran. Only Open MPI's Fortran library needs it: MPICH's calls the C functions
// by their names. See fortran.hpp.
#include "mpi/fortran/fortran.hpp"

#ifdef OPEN_MPI
using namespace sluice::fortran;

// One line a function: the families differ in whether an offset is given, and in what comes back.
#define SLUICE_BLOCKING(NAME)                                                                      \
    SLUICE_FORTRAN_BUFFER(                                                                         \
        file_##NAME,                                                                               \
        (Integer fh, void* buffer, Integer count, Integer datatype, void* to, Integer ierror),     \
        MPI_File_##NAME(file(fh), memory(buffer), *count, type(datatype), status(to)))
#define SLUICE_BLOCKING_AT(NAME)                                                                   \
    SLUICE_FORTRAN_BUFFER(                                                                         \
        file_##NAME,                                                                               \
        (Integer fh, MPI_Offset * offset, void* buffer, Integer count, Integer datatype, void* to, \
         Integer ierror),                                                                          \
        MPI_File_##NAME(file(fh), *offset, memory(buffer), *count, type(datatype), status(to)))
#define SLUICE_NONBLOCKING(NAME)                                                                   \
    SLUICE_FORTRAN_BUFFER(                                                                         \
        file_##NAME,                                                                               \
        (Integer fh, void* buffer, Integer count, Integer datatype, Integer request,               \
         Integer ierror),                                                                          \
        MPI_File_##NAME(file(fh), memory(buffer), *count, type(datatype), Out<Request>(request)))
#define SLUICE_NONBLOCKING_AT(NAME)                                                                \
    SLUICE_FORTRAN_BUFFER(file_##NAME,                                                             \
                          (Integer fh, MPI_Offset * offset, void* buffer, Integer count,           \
                           Integer datatype, Integer request, Integer ierror),                     \
                          MPI_File_##NAME(file(fh), *offset, memory(buffer), *count,               \
                                          type(datatype), Out<Request>(request)))
#define SLUICE_BEGIN(NAME)                                                                         \
    SLUICE_FORTRAN_BUFFER(                                                                         \
        file_##NAME, (Integer fh, void* buffer, Integer count, Integer datatype, Integer ierror),  \
        MPI_File_##NAME(file(fh), memory(buffer), *count, type(datatype)))
#define SLUICE_BEGIN_AT(NAME)                                                                      \
    SLUICE_FORTRAN_BUFFER(                                                                         \
        file_##NAME,                                                                               \
        (Integer fh, MPI_Offset * offset, void* buffer, Integer count, Integer datatype,           \
         Integer ierror),                                                                          \
        MPI_File_##NAME(file(fh), *offset, memory(buffer), *count, type(datatype)))
#define SLUICE_END(NAME)                                                                           \
    SLUICE_FORTRAN_BUFFER(file_##NAME, (Integer fh, void* buffer, void* to, Integer ierror),       \
                          MPI_File_##NAME(file(fh), memory(buffer), status(to)))

extern "C" {

SLUICE_BLOCKING(write)
SLUICE_BLOCKING(read)
SLUICE_BLOCKING(write_all)
SLUICE_BLOCKING(read_all)
SLUICE_BLOCKING(write_shared)
SLUICE_BLOCKING(read_shared)
SLUICE_BLOCKING(write_ordered)
SLUICE_BLOCKING(read_ordered)
SLUICE_BLOCKING_AT(write_at)
SLUICE_BLOCKING_AT(read_at)
SLUICE_BLOCKING_AT(write_at_all)
SLUICE_BLOCKING_AT(read_at_all)

SLUICE_NONBLOCKING(iwrite)
SLUICE_NONBLOCKING(iread)
SLUICE_NONBLOCKING(iwrite_all)
SLUICE_NONBLOCKING(iread_all)
SLUICE_NONBLOCKING(iwrite_shared)
SLUICE_NONBLOCKING(iread_shared)
SLUICE_NONBLOCKING_AT(iwrite_at)
SLUICE_NONBLOCKING_AT(iread_at)
SLUICE_NONBLOCKING_AT(iwrite_at_all)
SLUICE_NONBLOCKING_AT(iread_at_all)

SLUICE_BEGIN(write_all_begin)
SLUICE_BEGIN(read_all_begin)
SLUICE_BEGIN(write_ordered_begin)
SLUICE_BEGIN(read_ordered_begin)
SLUICE_BEGIN_AT(write_at_all_begin)
SLUICE_BEGIN_AT(read_at_all_begin)
SLUICE_END(write_all_end)
SLUICE_END(read_all_end)
SLUICE_END(write_ordered_end)
SLUICE_END(read_ordered_end)
SLUICE_END(write_at_all_end)
SLUICE_END(read_at_all_end)

}  // extern "C"
#endif
