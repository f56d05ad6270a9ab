/* Collectives between memories that are nonblocking in deed: no call is needed between the start
 * and the wait, and none of them waits for another rank to come to its own start. Included by
 * sluice.h, whose conventions hold. Arguments are those of the MPI function of the same name
 * (MPI-4.1, chapter 6 and section 8.6), with the request as the last one; MPI_IN_PLACE,
 * MPI_BOTTOM, any datatype, user-defined operations and virtual topologies are as there. */
#ifndef SLUICE_COLLECTIVES_H
#define SLUICE_COLLECTIVES_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is started once or any number of times, also for files: see sluice.h. */
typedef struct sluice_request_s* sluice_request;
#define SLUICE_REQUEST_NULL ((sluice_request)0)

/** Start a collective. Its request is active; sluice_wait() or sluice_test() complete it. It is
 *  then gone: a request that was waited for, or that a test found complete, must not be used again,
 *  and sluice_start() and sluice_request_free() refuse it with MPI_ERR_REQUEST while it is active.
 *  Functions: sluice_ibarrier, sluice_ibcast, sluice_igather, sluice_igatherv, sluice_iscatter,
 *  sluice_iscatterv, sluice_iallgather, sluice_iallgatherv, sluice_ialltoall, sluice_ialltoallv,
 *  sluice_ialltoallw, sluice_ireduce, sluice_iallreduce, sluice_ireduce_scatter,
 *  sluice_ireduce_scatter_block, sluice_iscan, sluice_iexscan, sluice_ineighbor_allgather,
 *  sluice_ineighbor_allgatherv, sluice_ineighbor_alltoall, sluice_ineighbor_alltoallv,
 *  sluice_ineighbor_alltoallw.
 *  Collective: yes, over the communicator, in the same order as other collective calls on it. They
 *  do not match calls of MPI's functions: all ranks have to call the same one.
 *  Blocks: never, but the first on a communicator until all ranks have called it (that one not
 *  either with SLUICE=all), and for copies from and to the host where a buffer lies on a GPU: at
 *  the call, and when it is completed. Nobody has to call anything for what is under way.
 *  Lifetime: buffers are used where they are: what is sent must not be changed, what is received
 *  not be looked at, until the request is complete. Counts, displacements, datatypes, the operation
 *  and the communicator may be freed when the call returns; but where the MPI serves the call
 *  (intercommunicators; operations that only it knows) the rules of its own function hold.
 *  Errors: bad arguments of this rank, through the communicator's error handler, with nothing
 *  started: MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER, MPI_ERR_ROOT, MPI_ERR_OP,
 *  MPI_ERR_TOPOLOGY, MPI_ERR_TRUNCATE where the own blocks of both buffers differ in size. Without
 *  a handler MPI_ERR_COMM for MPI_COMM_NULL and MPI_ERR_ARG for no place for the request. What goes
 *  wrong later is told by the wait, on the ranks that met it. */
int sluice_ibarrier(MPI_Comm communicator, sluice_request* request);
int sluice_ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator,
                  sluice_request* request);
int sluice_igather(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                   int receive_count, MPI_Datatype receive_type, int root, MPI_Comm communicator,
                   sluice_request* request);
int sluice_igatherv(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                    int const* receive_counts, int const* receive_places, MPI_Datatype receive_type,
                    int root, MPI_Comm communicator, sluice_request* request);
int sluice_iscatter(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                    int receive_count, MPI_Datatype receive_type, int root, MPI_Comm communicator,
                    sluice_request* request);
int sluice_iscatterv(void const* send, int const* send_counts, int const* send_places,
                     MPI_Datatype send_type, void* receive, int receive_count,
                     MPI_Datatype receive_type, int root, MPI_Comm communicator,
                     sluice_request* request);
int sluice_iallgather(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                      int receive_count, MPI_Datatype receive_type, MPI_Comm communicator,
                      sluice_request* request);
int sluice_iallgatherv(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                       int const* receive_counts, int const* receive_places,
                       MPI_Datatype receive_type, MPI_Comm communicator, sluice_request* request);
int sluice_ialltoall(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                     int receive_count, MPI_Datatype receive_type, MPI_Comm communicator,
                     sluice_request* request);
int sluice_ialltoallv(void const* send, int const* send_counts, int const* send_places,
                      MPI_Datatype send_type, void* receive, int const* receive_counts,
                      int const* receive_places, MPI_Datatype receive_type, MPI_Comm communicator,
                      sluice_request* request);
int sluice_ialltoallw(void const* send, int const* send_counts, int const* send_places,
                      MPI_Datatype const* send_types, void* receive, int const* receive_counts,
                      int const* receive_places, MPI_Datatype const* receive_types,
                      MPI_Comm communicator, sluice_request* request);
int sluice_ireduce(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                   int root, MPI_Comm communicator, sluice_request* request);
int sluice_iallreduce(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm communicator, sluice_request* request);
int sluice_ireduce_scatter(void const* send, void* receive, int const* counts, MPI_Datatype type,
                           MPI_Op op, MPI_Comm communicator, sluice_request* request);
int sluice_ireduce_scatter_block(void const* send, void* receive, int count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm communicator, sluice_request* request);
int sluice_iscan(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm communicator, sluice_request* request);
int sluice_iexscan(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm communicator, sluice_request* request);
int sluice_ineighbor_allgather(void const* send, int send_count, MPI_Datatype send_type,
                               void* receive, int receive_count, MPI_Datatype receive_type,
                               MPI_Comm communicator, sluice_request* request);
int sluice_ineighbor_allgatherv(void const* send, int send_count, MPI_Datatype send_type,
                                void* receive, int const* receive_counts, int const* receive_places,
                                MPI_Datatype receive_type, MPI_Comm communicator,
                                sluice_request* request);
int sluice_ineighbor_alltoall(void const* send, int send_count, MPI_Datatype send_type,
                              void* receive, int receive_count, MPI_Datatype receive_type,
                              MPI_Comm communicator, sluice_request* request);
int sluice_ineighbor_alltoallv(void const* send, int const* send_counts, int const* send_places,
                               MPI_Datatype send_type, void* receive, int const* receive_counts,
                               int const* receive_places, MPI_Datatype receive_type,
                               MPI_Comm communicator, sluice_request* request);
int sluice_ineighbor_alltoallw(void const* send, int const* send_counts,
                               MPI_Aint const* send_places, MPI_Datatype const* send_types,
                               void* receive, int const* receive_counts,
                               MPI_Aint const* receive_places, MPI_Datatype const* receive_types,
                               MPI_Comm communicator, sluice_request* request);

/** Set up a collective that can be started any number of times by sluice_start(), and has to be
 *  freed by sluice_request_free(). It moves nothing by itself.
 *  Functions: sluice_barrier_init, sluice_bcast_init, sluice_gather_init, sluice_gatherv_init,
 *  sluice_scatter_init, sluice_scatterv_init, sluice_allgather_init, sluice_allgatherv_init,
 *  sluice_alltoall_init, sluice_alltoallv_init, sluice_alltoallw_init, sluice_reduce_init,
 *  sluice_allreduce_init, sluice_reduce_scatter_init, sluice_reduce_scatter_block_init,
 *  sluice_scan_init, sluice_exscan_init, sluice_neighbor_allgather_init,
 *  sluice_neighbor_allgatherv_init, sluice_neighbor_alltoall_init, sluice_neighbor_alltoallv_init,
 *  sluice_neighbor_alltoallw_init.
 *  Collective: yes, over the communicator; each start is one as well, in the same order as other
 *  collective calls on the communicator.
 *  Blocks: as the nonblocking functions above; the starts do only for buffers on a GPU.
 *  Lifetime: buffers are kept, not copied: they must live until the request is freed, and be left
 *  alone while it is active. Counts, displacements and datatypes must live as long: where the MPI
 *  serves the call, each start passes them to it.
 *  Errors: as the nonblocking functions above; `request` is then SLUICE_REQUEST_NULL. */
int sluice_barrier_init(MPI_Comm communicator, sluice_request* request);
int sluice_bcast_init(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator,
                      sluice_request* request);
int sluice_gather_init(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                       int receive_count, MPI_Datatype receive_type, int root,
                       MPI_Comm communicator, sluice_request* request);
int sluice_gatherv_init(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                        int const* receive_counts, int const* receive_places,
                        MPI_Datatype receive_type, int root, MPI_Comm communicator,
                        sluice_request* request);
int sluice_scatter_init(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                        int receive_count, MPI_Datatype receive_type, int root,
                        MPI_Comm communicator, sluice_request* request);
int sluice_scatterv_init(void const* send, int const* send_counts, int const* send_places,
                         MPI_Datatype send_type, void* receive, int receive_count,
                         MPI_Datatype receive_type, int root, MPI_Comm communicator,
                         sluice_request* request);
int sluice_allgather_init(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                          int receive_count, MPI_Datatype receive_type, MPI_Comm communicator,
                          sluice_request* request);
int sluice_allgatherv_init(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                           int const* receive_counts, int const* receive_places,
                           MPI_Datatype receive_type, MPI_Comm communicator,
                           sluice_request* request);
int sluice_alltoall_init(void const* send, int send_count, MPI_Datatype send_type, void* receive,
                         int receive_count, MPI_Datatype receive_type, MPI_Comm communicator,
                         sluice_request* request);
int sluice_alltoallv_init(void const* send, int const* send_counts, int const* send_places,
                          MPI_Datatype send_type, void* receive, int const* receive_counts,
                          int const* receive_places, MPI_Datatype receive_type,
                          MPI_Comm communicator, sluice_request* request);
int sluice_alltoallw_init(void const* send, int const* send_counts, int const* send_places,
                          MPI_Datatype const* send_types, void* receive, int const* receive_counts,
                          int const* receive_places, MPI_Datatype const* receive_types,
                          MPI_Comm communicator, sluice_request* request);
int sluice_reduce_init(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm communicator, sluice_request* request);
int sluice_allreduce_init(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm communicator, sluice_request* request);
int sluice_reduce_scatter_init(void const* send, void* receive, int const* counts,
                               MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                               sluice_request* request);
int sluice_reduce_scatter_block_init(void const* send, void* receive, int count, MPI_Datatype type,
                                     MPI_Op op, MPI_Comm communicator, sluice_request* request);
int sluice_scan_init(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm communicator, sluice_request* request);
int sluice_exscan_init(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm communicator, sluice_request* request);
int sluice_neighbor_allgather_init(void const* send, int send_count, MPI_Datatype send_type,
                                   void* receive, int receive_count, MPI_Datatype receive_type,
                                   MPI_Comm communicator, sluice_request* request);
int sluice_neighbor_allgatherv_init(void const* send, int send_count, MPI_Datatype send_type,
                                    void* receive, int const* receive_counts,
                                    int const* receive_places, MPI_Datatype receive_type,
                                    MPI_Comm communicator, sluice_request* request);
int sluice_neighbor_alltoall_init(void const* send, int send_count, MPI_Datatype send_type,
                                  void* receive, int receive_count, MPI_Datatype receive_type,
                                  MPI_Comm communicator, sluice_request* request);
int sluice_neighbor_alltoallv_init(void const* send, int const* send_counts, int const* send_places,
                                   MPI_Datatype send_type, void* receive, int const* receive_counts,
                                   int const* receive_places, MPI_Datatype receive_type,
                                   MPI_Comm communicator, sluice_request* request);
int sluice_neighbor_alltoallw_init(void const* send, int const* send_counts,
                                   MPI_Aint const* send_places, MPI_Datatype const* send_types,
                                   void* receive, int const* receive_counts,
                                   MPI_Aint const* receive_places,
                                   MPI_Datatype const* receive_types, MPI_Comm communicator,
                                   sluice_request* request);

/** Gathers results whose sizes only their makers know, as one nonblocking operation of two stages:
 *  first the sizes, then, as soon as they are known and with no call by anybody, the data. What
 *  rank i sends comes to lie in `receive` on `root` directly behind what rank i - 1 sends. Requests
 *  are as those of the nonblocking functions above.
 *  Source: "Nonblocking collectives over InfiniBand", section IV-D, where the first stage blocks.
 *  Collective: yes, over the communicator, in the same order as other collective calls on it.
 *  Blocks: never, but the first call on a communicator as above. Where the MPI has to serve it
 *  (SLUICE=off), until the data is there.
 *  Lifetime: `send`, `receive` and `receive_bytes` are used where they are, until the request is
 *  complete. The latter two and `capacity` count on the root only. `receive_bytes` has an entry for
 *  each rank, in the order of ranks, filled when the request is complete.
 *  Errors: MPI_ERR_COUNT for a negative size, MPI_ERR_ROOT, MPI_ERR_COMM for an intercommunicator,
 *  MPI_ERR_ARG for null pointers, on this rank and with nothing started. MPI_ERR_TRUNCATE on the
 *  root, from the wait, where all ranks together send more than `capacity` bytes: `receive_bytes`
 *  tells the sizes then, `receive` is left as it is, and the other ranks complete without error.
 *  MPI_ERR_COUNT on all ranks, from the wait, where the MPI has to serve it and all together send
 *  more than an int can say. */
int sluice_igather_results(void const* send, MPI_Count send_bytes, void* receive,
                           MPI_Count capacity, MPI_Count* receive_bytes, int root,
                           MPI_Comm communicator, sluice_request* request);

#ifdef __cplusplus
}
#endif
#endif
