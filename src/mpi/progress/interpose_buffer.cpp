// Mode `calls`: operations move on while the program waits for buffered messages to be delivered.
// Since MPI 4.1 the MPI can be asked without blocking whether they are. Where it cannot, operations
// stand still in MPI_Buffer_detach until the receivers have come. In mode `thread` each call goes
// straight to the MPI.
#include "mpi/pmpi.hpp"
#include "mpi/progress/await.hpp"

#ifdef SLUICE_HAVE_BUFFER_FLUSH
namespace {

/// What follows blocks no more.
template <class Start> int flushed(Start&& start) {
    return sluice::Progress::needs_callers() ? sluice::started(start) : MPI_SUCCESS;
}

}  // namespace

// Parameters and arguments, with their parentheses, and how to flush: FLUSH, with whose buffer.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLUICE_FLUSHES(NAME, PARAMETERS, ARGUMENTS, FLUSH, ...)                                    \
    int NAME PARAMETERS {                                                                          \
        int const code = flushed([&](MPI_Request* r) { return FLUSH(__VA_ARGS__ r); });            \
        return code == MPI_SUCCESS ? SLUICE_PMPI(NAME) ARGUMENTS : code;                           \
    }
#define SLUICE_DETACH(SUFFIX, COUNT)                                                               \
    SLUICE_FLUSHES(MPI_Buffer_detach##SUFFIX, (void* buffer, COUNT* size), (buffer, size),         \
                   PMPI_Buffer_iflush)                                                             \
    SLUICE_FLUSHES(MPI_Comm_detach_buffer##SUFFIX, (MPI_Comm comm, void* buffer, COUNT* size),     \
                   (comm, buffer, size), PMPI_Comm_iflush_buffer, comm, )                          \
    SLUICE_FLUSHES(MPI_Session_detach_buffer##SUFFIX,                                              \
                   (MPI_Session session, void* buffer, COUNT* size), (session, buffer, size),      \
                   PMPI_Session_iflush_buffer, session, )
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

SLUICE_DETACH(, int)
SLUICE_DETACH(_c, MPI_Count)
SLUICE_FLUSHES(MPI_Buffer_flush, (void), (), PMPI_Buffer_iflush)
SLUICE_FLUSHES(MPI_Comm_flush_buffer, (MPI_Comm comm), (comm), PMPI_Comm_iflush_buffer, comm, )
SLUICE_FLUSHES(MPI_Session_flush_buffer, (MPI_Session session), (session),
               PMPI_Session_iflush_buffer, session, )

}  // extern "C"
#endif
