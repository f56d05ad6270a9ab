// MPI's own blocking functions for Fortran: in mode `calls` operations move on inside them, and all
// ranks must do the same before a collective one, whatever their language. Those that move data
// between all ranks are in fortran_collectives.cpp. See fortran.hpp.
#include "mpi/fortran/fortran.hpp"

#ifdef SLUICE_FORTRAN_KNOWN
using namespace sluice::fortran;

extern "C" {

SLUICE_FORTRAN(barrier, (Integer c, Integer ierror), MPI_Barrier(comm(c)))
SLUICE_FORTRAN(probe, (Integer source, Integer tag, Integer c, void* to, Integer ierror),
               MPI_Probe(*source, *tag, comm(c), status(to)))
SLUICE_FORTRAN(mprobe,
               (Integer source, Integer tag, Integer c, Integer message, void* to, Integer ierror),
               MPI_Mprobe(*source, *tag, comm(c), Out<Message>(message), status(to)))
SLUICE_FORTRAN(iprobe,
               (Integer source, Integer tag, Integer c, Integer flag, void* to, Integer ierror),
               MPI_Iprobe(*source, *tag, comm(c), Logical(flag), status(to)))
SLUICE_FORTRAN(improbe,
               (Integer source, Integer tag, Integer c, Integer flag, Integer message, void* to,
                Integer ierror),
               MPI_Improbe(*source, *tag, comm(c), Logical(flag), Out<Message>(message),
                           status(to)))
SLUICE_FORTRAN(comm_dup, (Integer c, Integer made, Integer ierror),
               MPI_Comm_dup(comm(c), Out<Comm>(made)))
SLUICE_FORTRAN(comm_dup_with_info, (Integer c, Integer hints, Integer made, Integer ierror),
               MPI_Comm_dup_with_info(comm(c), info(hints), Out<Comm>(made)))
SLUICE_FORTRAN(comm_idup, (Integer c, Integer made, Integer request, Integer ierror),
               MPI_Comm_idup(comm(c), Out<Comm>(made), Out<Request>(request)))
SLUICE_FORTRAN(comm_split, (Integer c, Integer color, Integer key, Integer made, Integer ierror),
               MPI_Comm_split(comm(c), *color, *key, Out<Comm>(made)))
SLUICE_FORTRAN(comm_split_type,
               (Integer c, Integer kind, Integer key, Integer hints, Integer made, Integer ierror),
               MPI_Comm_split_type(comm(c), *kind, *key, info(hints), Out<Comm>(made)))
SLUICE_FORTRAN(comm_create, (Integer c, Integer group, Integer made, Integer ierror),
               MPI_Comm_create(comm(c), Group::to_c(group), Out<Comm>(made)))
SLUICE_FORTRAN(win_allocate,
               (Address size, Integer unit, Integer hints, Integer c, void* base, Integer win,
                Integer ierror),
               MPI_Win_allocate(*size, *unit, info(hints), comm(c), base, Out<Win>(win)))
SLUICE_FORTRAN(win_allocate_shared,
               (Address size, Integer unit, Integer hints, Integer c, void* base, Integer win,
                Integer ierror),
               MPI_Win_allocate_shared(*size, *unit, info(hints), comm(c), base, Out<Win>(win)))

}  // extern "C"
#endif

#ifdef OPEN_MPI
#define SLUICE_SEND(LOWER, NAME)                                                                   \
    SLUICE_FORTRAN_BUFFER(                                                                         \
        LOWER,                                                                                     \
        (void* buf, Integer n, Integer t, Integer dest, Integer tag, Integer c, Integer ierror),   \
        NAME(memory(buf), *n, type(t), *dest, *tag, comm(c)))

extern "C" {

SLUICE_SEND(send, MPI_Send)
SLUICE_SEND(ssend, MPI_Ssend)
SLUICE_SEND(rsend, MPI_Rsend)
SLUICE_FORTRAN_BUFFER(recv,
                      (void* buf, Integer n, Integer t, Integer source, Integer tag, Integer c,
                       void* to, Integer ierror),
                      MPI_Recv(memory(buf), *n, type(t), *source, *tag, comm(c), status(to)))
SLUICE_FORTRAN_BUFFER(mrecv,
                      (void* buf, Integer n, Integer t, Integer message, void* to, Integer ierror),
                      MPI_Mrecv(memory(buf), *n, type(t), Updated<Message>(message), status(to)))
SLUICE_FORTRAN_BUFFER(sendrecv,
                      (void* s, Integer sn, Integer st, Integer dest, Integer stag, void* r,
                       Integer rn, Integer rt, Integer source, Integer rtag, Integer c, void* to,
                       Integer ierror),
                      MPI_Sendrecv(memory(s), *sn, type(st), *dest, *stag, memory(r), *rn, type(rt),
                                   *source, *rtag, comm(c), status(to)))
SLUICE_FORTRAN_BUFFER(sendrecv_replace,
                      (void* buf, Integer n, Integer t, Integer dest, Integer stag, Integer source,
                       Integer rtag, Integer c, void* to, Integer ierror),
                      MPI_Sendrecv_replace(memory(buf), *n, type(t), *dest, *stag, *source, *rtag,
                                           comm(c), status(to)))

SLUICE_FORTRAN_BUFFER(win_create,
                      (void* base, Address size, Integer unit, Integer hints, Integer c,
                       Integer win, Integer ierror),
                      MPI_Win_create(memory(base), *size, *unit, info(hints), comm(c),
                                     Out<Win>(win)))
SLUICE_FORTRAN_ALIAS(mpi_win_allocate_, mpi_win_allocate_cptr_,
                     (Address size, Integer unit, Integer hints, Integer c, void* base, Integer win,
                      Integer ierror))
SLUICE_FORTRAN_ALIAS(mpi_win_allocate_shared_, mpi_win_allocate_shared_cptr_,
                     (Address size, Integer unit, Integer hints, Integer c, void* base, Integer win,
                      Integer ierror))

}  // extern "C"
#endif
