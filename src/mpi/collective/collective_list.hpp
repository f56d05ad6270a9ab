// The nonblocking collectives of MPI, each once. From this list come the interposed functions and
// those of sluice.h.
//
// SLUICE_EACH_COLLECTIVE(DO, COUNT, PLACE) says for each DO(name, (parameters), (arguments), what):
// the parameters are those of MPI_I<name> but for the request, with counts of one type and
// displacements of another (large counts have large ones of both); the arguments are their names,
// to be handed on; what they are as CollectiveArguments.
#pragma once
#include "mpi/collective/collective_arguments.hpp"

namespace sluice::collective {

inline BufferArguments one(void const* memory, std::int64_t count, MPI_Datatype type) {
    return {const_cast<void*>(memory), count, type, {}, {}, nullptr};
}
template <class Count, class Place>
BufferArguments several(void const* memory, Count const* counts, Place const* places,
                        MPI_Datatype type) {
    return {const_cast<void*>(memory), 0, type, Numbers(counts), Numbers(places), nullptr};
}
template <class Count, class Place>
BufferArguments several_types(void const* memory, Count const* counts, Place const* places,
                              MPI_Datatype const* types) {
    return {const_cast<void*>(memory), 0,    MPI_DATATYPE_NULL, Numbers(counts),
            Numbers(places),           types};
}
/// What is received has the count and the datatype of what is sent.
inline CollectiveArguments reduction(CollectiveKind kind, void const* send, void* receive,
                                     std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
                                     MPI_Comm communicator) {
    return {kind, one(send, count, type), one(receive, count, type), op, root, communicator};
}
template <class Count>
CollectiveArguments reduce_scatter(void const* send, void* receive, Count const* counts,
                                   MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
    BufferArguments received = one(receive, 0, type);
    received.counts = Numbers(counts);
    return {CollectiveKind::reduce_scatter, one(send, 0, type), received, op, 0, communicator};
}

}  // namespace sluice::collective

// Parameters, and what they are.
#define SLUICE_SEND(COUNT) void const *send, COUNT send_count, MPI_Datatype send_type
#define SLUICE_SENDS(COUNT, PLACE)                                                                 \
    void const *send, COUNT const *send_counts, PLACE const *send_places, MPI_Datatype send_type
#define SLUICE_SENDS_TYPES(COUNT, PLACE)                                                           \
    void const *send, COUNT const *send_counts, PLACE const *send_places,                          \
        MPI_Datatype const *send_types
#define SLUICE_RECEIVE(COUNT) void *receive, COUNT receive_count, MPI_Datatype receive_type
#define SLUICE_RECEIVES(COUNT, PLACE)                                                              \
    void *receive, COUNT const *receive_counts, PLACE const *receive_places,                       \
        MPI_Datatype receive_type
#define SLUICE_RECEIVES_TYPES(COUNT, PLACE)                                                        \
    void *receive, COUNT const *receive_counts, PLACE const *receive_places,                       \
        MPI_Datatype const *receive_types
#define SLUICE_REDUCE(COUNT)                                                                       \
    void const *send, void *receive, COUNT count, MPI_Datatype type, MPI_Op op
#define SLUICE_SENT sluice::collective::one(send, send_count, send_type)
#define SLUICE_SENT_SEVERAL sluice::collective::several(send, send_counts, send_places, send_type)
#define SLUICE_RECEIVED sluice::collective::one(receive, receive_count, receive_type)
#define SLUICE_RECEIVED_SEVERAL                                                                    \
    sluice::collective::several(receive, receive_counts, receive_places, receive_type)
#define SLUICE_MOVES(KIND, SENT, RECEIVED, ROOT)                                                   \
    (sluice::CollectiveArguments{sluice::CollectiveKind::KIND, SENT, RECEIVED, MPI_OP_NULL, ROOT,  \
                                 communicator})
#define SLUICE_REDUCES(KIND, ROOT)                                                                 \
    sluice::collective::reduction(sluice::CollectiveKind::KIND, send, receive, count, type, op,    \
                                  ROOT, communicator)

#define SLUICE_ROOTED_COLLECTIVES(DO, COUNT, PLACE)                                                \
    DO(bcast, (void* buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm communicator),     \
       (buffer, count, type, root, communicator),                                                  \
       SLUICE_MOVES(bcast, {}, sluice::collective::one(buffer, count, type), root))                \
    DO(gather, (SLUICE_SEND(COUNT), SLUICE_RECEIVE(COUNT), int root, MPI_Comm communicator),       \
       (send, send_count, send_type, receive, receive_count, receive_type, root, communicator),    \
       SLUICE_MOVES(gather, SLUICE_SENT, SLUICE_RECEIVED, root))                                   \
    DO(gatherv,                                                                                    \
       (SLUICE_SEND(COUNT), SLUICE_RECEIVES(COUNT, PLACE), int root, MPI_Comm communicator),       \
       (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, root,  \
        communicator),                                                                             \
       SLUICE_MOVES(gatherv, SLUICE_SENT, SLUICE_RECEIVED_SEVERAL, root))                          \
    DO(scatter, (SLUICE_SEND(COUNT), SLUICE_RECEIVE(COUNT), int root, MPI_Comm communicator),      \
       (send, send_count, send_type, receive, receive_count, receive_type, root, communicator),    \
       SLUICE_MOVES(scatter, SLUICE_SENT, SLUICE_RECEIVED, root))                                  \
    DO(scatterv,                                                                                   \
       (SLUICE_SENDS(COUNT, PLACE), SLUICE_RECEIVE(COUNT), int root, MPI_Comm communicator),       \
       (send, send_counts, send_places, send_type, receive, receive_count, receive_type, root,     \
        communicator),                                                                             \
       SLUICE_MOVES(scatterv, SLUICE_SENT_SEVERAL, SLUICE_RECEIVED, root))

// Of all with all, and of neighbours. PLACE_OF_TYPES: displacements of those with a datatype each.
#define SLUICE_EXCHANGES(DO, PREFIX, COUNT, PLACE, PLACE_OF_TYPES)                                 \
    DO(PREFIX##allgather, (SLUICE_SEND(COUNT), SLUICE_RECEIVE(COUNT), MPI_Comm communicator),      \
       (send, send_count, send_type, receive, receive_count, receive_type, communicator),          \
       SLUICE_MOVES(PREFIX##allgather, SLUICE_SENT, SLUICE_RECEIVED, 0))                           \
    DO(PREFIX##allgatherv,                                                                         \
       (SLUICE_SEND(COUNT), SLUICE_RECEIVES(COUNT, PLACE), MPI_Comm communicator),                 \
       (send, send_count, send_type, receive, receive_counts, receive_places, receive_type,        \
        communicator),                                                                             \
       SLUICE_MOVES(PREFIX##allgatherv, SLUICE_SENT, SLUICE_RECEIVED_SEVERAL, 0))                  \
    DO(PREFIX##alltoall, (SLUICE_SEND(COUNT), SLUICE_RECEIVE(COUNT), MPI_Comm communicator),       \
       (send, send_count, send_type, receive, receive_count, receive_type, communicator),          \
       SLUICE_MOVES(PREFIX##alltoall, SLUICE_SENT, SLUICE_RECEIVED, 0))                            \
    DO(PREFIX##alltoallv,                                                                          \
       (SLUICE_SENDS(COUNT, PLACE), SLUICE_RECEIVES(COUNT, PLACE), MPI_Comm communicator),         \
       (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,        \
        receive_type, communicator),                                                               \
       SLUICE_MOVES(PREFIX##alltoallv, SLUICE_SENT_SEVERAL, SLUICE_RECEIVED_SEVERAL, 0))           \
    DO(PREFIX##alltoallw,                                                                          \
       (SLUICE_SENDS_TYPES(COUNT, PLACE_OF_TYPES), SLUICE_RECEIVES_TYPES(COUNT, PLACE_OF_TYPES),   \
        MPI_Comm communicator),                                                                    \
       (send, send_counts, send_places, send_types, receive, receive_counts, receive_places,       \
        receive_types, communicator),                                                              \
       SLUICE_MOVES(PREFIX##alltoallv,                                                             \
                    sluice::collective::several_types(send, send_counts, send_places, send_types), \
                    sluice::collective::several_types(receive, receive_counts, receive_places,     \
                                                      receive_types),                              \
                    0))

#define SLUICE_REDUCTIONS(DO, COUNT)                                                               \
    DO(reduce, (SLUICE_REDUCE(COUNT), int root, MPI_Comm communicator),                            \
       (send, receive, count, type, op, root, communicator), SLUICE_REDUCES(reduce, root))         \
    DO(allreduce, (SLUICE_REDUCE(COUNT), MPI_Comm communicator),                                   \
       (send, receive, count, type, op, communicator), SLUICE_REDUCES(allreduce, 0))               \
    DO(reduce_scatter,                                                                             \
       (void const* send, void* receive, COUNT const* counts, MPI_Datatype type, MPI_Op op,        \
        MPI_Comm communicator),                                                                    \
       (send, receive, counts, type, op, communicator),                                            \
       sluice::collective::reduce_scatter(send, receive, counts, type, op, communicator))          \
    DO(reduce_scatter_block, (SLUICE_REDUCE(COUNT), MPI_Comm communicator),                        \
       (send, receive, count, type, op, communicator), SLUICE_REDUCES(reduce_scatter_block, 0))    \
    DO(scan, (SLUICE_REDUCE(COUNT), MPI_Comm communicator),                                        \
       (send, receive, count, type, op, communicator), SLUICE_REDUCES(scan, 0))                    \
    DO(exscan, (SLUICE_REDUCE(COUNT), MPI_Comm communicator),                                      \
       (send, receive, count, type, op, communicator), SLUICE_REDUCES(exscan, 0))

/// All but the barrier, which has no counts.
#define SLUICE_EACH_COLLECTIVE(DO, COUNT, PLACE)                                                   \
    SLUICE_ROOTED_COLLECTIVES(DO, COUNT, PLACE)                                                    \
    SLUICE_EXCHANGES(DO, , COUNT, PLACE, PLACE)                                                    \
    SLUICE_REDUCTIONS(DO, COUNT)                                                                   \
    SLUICE_EXCHANGES(DO, neighbor_, COUNT, PLACE, MPI_Aint)

#define SLUICE_BARRIER(DO)                                                                         \
    DO(barrier, (MPI_Comm communicator), (communicator), SLUICE_MOVES(barrier, {}, {}, 0))

#define SLUICE_UNWRAPPED(...) __VA_ARGS__
