// Nothing that the library throws for want of memory may reach C or Fortran. These guards turn it
// into MPI_ERR_NO_MEM, by the error handler that is due.
// docs/decisions/0025-requests-and-callbacks.md says more.
#pragma once
#include <mpi.h>
#include <new>
#include <stdexcept>

namespace sluice {

/// What an intercepted function returns where there was no memory, after the handler.
inline int no_memory(MPI_File file) {
    PMPI_File_call_errhandler(file, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}
inline int no_memory(MPI_Comm communicator) {
    PMPI_Comm_call_errhandler(communicator, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

}  // namespace sluice

/// After the body of a function that begins with `try`. `WHOSE` is the file (MPI_FILE_NULL for the
/// default handler) or the communicator whose handler is due. Other exceptions go through: they
/// are the program's, thrown by one of its own functions.
#define SLUICE_NO_MEMORY(WHOSE)                                                                    \
    catch (std::bad_alloc const&) {                                                                \
        return sluice::no_memory(WHOSE);                                                           \
    }                                                                                              \
    catch (std::length_error const&) {                                                             \
        return sluice::no_memory(WHOSE);                                                           \
    }

namespace sluice {

/// The same around `work()`.
template <class Whose, class Work> int guarded(Whose whose, Work&& work) try { return work(); }
SLUICE_NO_MEMORY(whose)

/// Of calls that name neither a file nor a communicator.
template <class Work> int guarded(Work&& work) { return guarded(MPI_COMM_SELF, work); }

}  // namespace sluice
