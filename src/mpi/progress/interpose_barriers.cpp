// Mode `calls`: all ranks meet before these collective functions of the MPI, so that none blocks in
// them while another still waits for its operation: communicators and their topologies,
// intercommunicators, neighbourhood collectives. interpose_blocking.cpp has the other collectives.
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

SLUICE_COLLECTIVE(MPI_Cart_create,
                  (MPI_Comm comm, int dimensions, int const sizes[], int const periods[],
                   int reorder, MPI_Comm* made),
                  (comm, dimensions, sizes, periods, reorder, made), comm)
SLUICE_COLLECTIVE(MPI_Cart_sub, (MPI_Comm comm, int const remain[], MPI_Comm* made),
                  (comm, remain, made), comm)
SLUICE_COLLECTIVE(MPI_Graph_create,
                  (MPI_Comm comm, int nodes, int const index[], int const edges[], int reorder,
                   MPI_Comm* made),
                  (comm, nodes, index, edges, reorder, made), comm)
SLUICE_COLLECTIVE(MPI_Dist_graph_create,
                  (MPI_Comm comm, int n, int const sources[], int const degrees[],
                   int const destinations[], int const weights[], MPI_Info info, int reorder,
                   MPI_Comm* made),
                  (comm, n, sources, degrees, destinations, weights, info, reorder, made), comm)
SLUICE_COLLECTIVE(
    MPI_Dist_graph_create_adjacent,
    (MPI_Comm comm, int in, int const sources[], int const source_weights[], int out,
     int const destinations[], int const weights[], MPI_Info info, int reorder, MPI_Comm* made),
    (comm, in, sources, source_weights, out, destinations, weights, info, reorder, made), comm)
SLUICE_COLLECTIVE(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made),
                  (comm, high, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_disconnect, (MPI_Comm * comm), (comm), *comm)
SLUICE_COLLECTIVE(MPI_Comm_accept,
                  (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                  (port, info, root, comm, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_connect,
                  (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                  (port, info, root, comm, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made),
                  (comm, info, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
                  (comm, color, key, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_split_type,
                  (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
                  (comm, type, key, info, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made),
                  (comm, group, made), comm)

// Only some of the ranks of `comm` call it.
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
    sluice::group_barrier(group, tag);
    return SLUICE_PMPI(MPI_Comm_create_group)(comm, group, tag, made);
}

int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag,
                         MPI_Comm* made) {
    sluice::barrier_of_both(comm, leader, peer, remote, tag);
    return SLUICE_PMPI(MPI_Intercomm_create)(comm, leader, peer, remote, tag, made);
}

}  // extern "C"
