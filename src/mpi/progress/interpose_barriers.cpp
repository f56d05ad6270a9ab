// Mode `calls`: all ranks meet before these collective functions of the MPI, so that none blocks in
// them while another still waits for its operation: intercommunicators and neighbourhood
// collectives. interpose_blocking.cpp has the other collectives, interpose_communicators.cpp what
// makes communicators.
// In mode `thread` each call goes straight to the MPI.
#include "mpi/pmpi.hpp"
#include "mpi/progress/progress_barrier.hpp"

// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLUICE_COLLECTIVE(NAME, PARAMETERS, ARGUMENTS, COMMUNICATOR)                               \
    int NAME PARAMETERS {                                                                          \
        sluice::progress_barrier(COMMUNICATOR);                                                    \
        return SLUICE_PMPI(NAME) ARGUMENTS;                                                        \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define SLUICE_NEIGHBOURS(SUFFIX, COUNT, PLACE)                                                    \
    SLUICE_COLLECTIVE(MPI_Neighbor_allgather##SUFFIX,                                              \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, MPI_Comm comm),                                            \
                      (s, sn, st, r, rn, rt, comm), comm)                                          \
    SLUICE_COLLECTIVE(MPI_Neighbor_allgatherv##SUFFIX,                                             \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT const rn[],        \
                       PLACE const rp[], MPI_Datatype rt, MPI_Comm comm),                          \
                      (s, sn, st, r, rn, rp, rt, comm), comm)                                      \
    SLUICE_COLLECTIVE(MPI_Neighbor_alltoall##SUFFIX,                                               \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, MPI_Comm comm),                                            \
                      (s, sn, st, r, rn, rt, comm), comm)                                          \
    SLUICE_COLLECTIVE(MPI_Neighbor_alltoallv##SUFFIX,                                              \
                      (void const* s, COUNT const sn[], PLACE const sp[], MPI_Datatype st,         \
                       void* r, COUNT const rn[], PLACE const rp[], MPI_Datatype rt,               \
                       MPI_Comm comm),                                                             \
                      (s, sn, sp, st, r, rn, rp, rt, comm), comm)                                  \
    SLUICE_COLLECTIVE(MPI_Neighbor_alltoallw##SUFFIX,                                              \
                      (void const* s, COUNT const sn[], MPI_Aint const sp[],                       \
                       MPI_Datatype const st[], void* r, COUNT const rn[], MPI_Aint const rp[],    \
                       MPI_Datatype const rt[], MPI_Comm comm),                                    \
                      (s, sn, sp, st, r, rn, rp, rt, comm), comm)

extern "C" {

SLUICE_NEIGHBOURS(, int, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_NEIGHBOURS(_c, MPI_Count, MPI_Aint)
#endif

SLUICE_COLLECTIVE(MPI_Comm_disconnect, (MPI_Comm * comm), (comm), *comm)
SLUICE_COLLECTIVE(MPI_Comm_accept,
                  (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                  (port, info, root, comm, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_connect,
                  (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                  (port, info, root, comm, made), comm)
int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag,
                         MPI_Comm* made) {
    sluice::barrier_of_both(comm, leader, peer, remote, tag);
    return SLUICE_PMPI(MPI_Intercomm_create)(comm, leader, peer, remote, tag, made);
}

}  // extern "C"
