// Communicators, topologies, windows and buffers for Fortran: in mode `calls` all ranks must do the
// same before a call that waits for others, whatever their language. Graphs of which each rank
// gives a part are left out: the address that stands for MPI_UNWEIGHTED is known to the compiler of
// MPICH alone. See fortran.hpp.
#include "mpi/fortran/fortran.hpp"

#ifdef SLUICE_FORTRAN_KNOWN
using namespace sluice::fortran;

namespace {

int dimensions_of(MPI_Comm grid) {
    int count = 0;
    PMPI_Cartdim_get(grid, &count);
    return count;
}

}  // namespace

extern "C" {

SLUICE_FORTRAN(comm_create_group,
               (Integer c, Integer group, Integer tag, Integer made, Integer ierror),
               MPI_Comm_create_group(comm(c), Group::to_c(group), *tag, Out<Comm>(made)))
SLUICE_FORTRAN(comm_disconnect, (Integer c, Integer ierror), MPI_Comm_disconnect(Updated<Comm>(c)))
SLUICE_FORTRAN(intercomm_create,
               (Integer c, Integer leader, Integer peer, Integer remote, Integer tag, Integer made,
                Integer ierror),
               MPI_Intercomm_create(comm(c), *leader, comm(peer), *remote, *tag, Out<Comm>(made)))
SLUICE_FORTRAN(intercomm_merge, (Integer c, Integer high, Integer made, Integer ierror),
               MPI_Intercomm_merge(comm(c), *high != 0, Out<Comm>(made)))
SLUICE_FORTRAN(cart_create,
               (Integer c, Integer dimensions, Integer sizes, Integer periods, Integer reorder,
                Integer made, Integer ierror),
               MPI_Cart_create(comm(c), *dimensions, sizes, Logicals(*dimensions, periods),
                               *reorder != 0, Out<Comm>(made)))
SLUICE_FORTRAN(cart_sub, (Integer c, Integer remain, Integer made, Integer ierror),
               MPI_Cart_sub(comm(c), Logicals(dimensions_of(comm(c)), remain), Out<Comm>(made)))
SLUICE_FORTRAN(graph_create,
               (Integer c, Integer nodes, Integer index, Integer edges, Integer reorder,
                Integer made, Integer ierror),
               MPI_Graph_create(comm(c), *nodes, index, edges, *reorder != 0, Out<Comm>(made)))

SLUICE_FORTRAN(win_create_dynamic, (Integer hints, Integer c, Integer win, Integer ierror),
               MPI_Win_create_dynamic(info(hints), comm(c), Out<Win>(win)))
SLUICE_FORTRAN(win_free, (Integer win, Integer ierror), MPI_Win_free(Updated<Win>(win)))
SLUICE_FORTRAN(win_set_info, (Integer win, Integer hints, Integer ierror),
               MPI_Win_set_info(Win::to_c(win), info(hints)))
SLUICE_FORTRAN(win_fence, (Integer assertion, Integer win, Integer ierror),
               MPI_Win_fence(*assertion, Win::to_c(win)))
SLUICE_FORTRAN(win_post, (Integer group, Integer assertion, Integer win, Integer ierror),
               MPI_Win_post(Group::to_c(group), *assertion, Win::to_c(win)))
SLUICE_FORTRAN(win_start, (Integer group, Integer assertion, Integer win, Integer ierror),
               MPI_Win_start(Group::to_c(group), *assertion, Win::to_c(win)))
SLUICE_FORTRAN(win_wait, (Integer win, Integer ierror), MPI_Win_wait(Win::to_c(win)))
SLUICE_FORTRAN(win_test, (Integer win, Integer flag, Integer ierror),
               MPI_Win_test(Win::to_c(win), Logical(flag)))

#ifdef SLUICE_HAVE_PARTITIONS
SLUICE_FORTRAN(parrived, (Integer request, Integer partition, Integer flag, Integer ierror),
               MPI_Parrived(Request::to_c(request), *partition, Logical(flag)))
#endif
#ifdef SLUICE_HAVE_BUFFER_FLUSH
SLUICE_FORTRAN(buffer_detach, (void* buffer, Integer size, Integer ierror),
               MPI_Buffer_detach(buffer, size))
SLUICE_FORTRAN(comm_detach_buffer, (Integer c, void* buffer, Integer size, Integer ierror),
               MPI_Comm_detach_buffer(comm(c), buffer, size))
SLUICE_FORTRAN(session_detach_buffer, (Integer session, void* buffer, Integer size, Integer ierror),
               MPI_Session_detach_buffer(Session::to_c(session), buffer, size))
SLUICE_FORTRAN(buffer_flush, (Integer ierror), MPI_Buffer_flush())
SLUICE_FORTRAN(comm_flush_buffer, (Integer c, Integer ierror), MPI_Comm_flush_buffer(comm(c)))
SLUICE_FORTRAN(session_flush_buffer, (Integer session, Integer ierror),
               MPI_Session_flush_buffer(Session::to_c(session)))
#endif

}  // extern "C"
#endif
