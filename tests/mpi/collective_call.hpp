// One rank's call of a collective with all its arguments, and the four ways to make it.
#pragma once
#include "collective_types.hpp"
#include "sluice/sluice.h"

#include <sstream>

namespace collective_test {

enum class Kind {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    neighbor_alltoallw
};
inline constexpr int kinds = 22;
inline constexpr char const* kind_names[kinds] = {"barrier",
                                                  "bcast",
                                                  "gather",
                                                  "gatherv",
                                                  "scatter",
                                                  "scatterv",
                                                  "allgather",
                                                  "allgatherv",
                                                  "alltoall",
                                                  "alltoallv",
                                                  "alltoallw",
                                                  "reduce",
                                                  "allreduce",
                                                  "reduce_scatter",
                                                  "reduce_scatter_block",
                                                  "scan",
                                                  "exscan",
                                                  "neighbor_allgather",
                                                  "neighbor_allgatherv",
                                                  "neighbor_alltoall",
                                                  "neighbor_alltoallv",
                                                  "neighbor_alltoallw"};

/// What one buffer's arguments are; `count` and `type` or lists, as the kind has them.
struct Side {
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    std::vector<int> counts, places;
    std::vector<MPI_Aint> wide_places;
    std::vector<MPI_Datatype> types;
    std::string text;
};

struct Call {
    Kind kind = Kind::barrier;
    MPI_Comm communicator = MPI_COMM_NULL;
    std::size_t ranks = 1;
    int root = 0;
    bool in_place = false;
    MPI_Op op = MPI_OP_NULL;
    bool owns_op = false;
    Side sent, received;
    Memory send, receive;     ///< As they are before the call.
    std::vector<Type> types;  ///< To be freed.
    bool compares = true;     ///< The receive buffer is defined afterwards.
    std::size_t gap_begin = 0, gap_end = 0, element = 0;  ///< Undefined bytes of each element.
    std::size_t rest_begin = 0, rest_end = 0;             ///< Undefined afterwards, from the base.
    std::string text;

    /// What a way may free right after the start.
    void free_handles() {
        release(types);
        if (owns_op) MPI_Op_free(&op);
        owns_op = false;
    }
};

/// The arguments as MPI's functions take them, on a receive buffer of its own.
struct Arguments {
    Call const& c;
    void const* send;
    void* receive;
};

inline Arguments arguments_of(Call& call, Memory& send, Memory& receive) {
    bool const in_send = call.in_place && call.kind != Kind::scatter && call.kind != Kind::scatterv;
    void* to = receive.base();
    if (call.in_place && !in_send) to = MPI_IN_PLACE;
    return {call, in_send ? MPI_IN_PLACE : send.base(), to};
}

// DO(kind, MPI's word, arguments): all that differs between the kinds. `a` are Arguments.
#define EACH_KIND(DO)                                                                              \
    DO(barrier, barrier, (a.c.communicator))                                                       \
    DO(bcast, bcast,                                                                               \
       (a.receive, a.c.received.count, a.c.received.type, a.c.root, a.c.communicator))             \
    DO(gather, gather,                                                                             \
       (a.send, a.c.sent.count, a.c.sent.type, a.receive, a.c.received.count, a.c.received.type,   \
        a.c.root, a.c.communicator))                                                               \
    DO(gatherv, gatherv,                                                                           \
       (a.send, a.c.sent.count, a.c.sent.type, a.receive, a.c.received.counts.data(),              \
        a.c.received.places.data(), a.c.received.type, a.c.root, a.c.communicator))                \
    DO(scatter, scatter,                                                                           \
       (a.send, a.c.sent.count, a.c.sent.type, a.receive, a.c.received.count, a.c.received.type,   \
        a.c.root, a.c.communicator))                                                               \
    DO(scatterv, scatterv,                                                                         \
       (a.send, a.c.sent.counts.data(), a.c.sent.places.data(), a.c.sent.type, a.receive,          \
        a.c.received.count, a.c.received.type, a.c.root, a.c.communicator))                        \
    EACH_EXCHANGE(DO, , places)                                                                    \
    DO(reduce, reduce,                                                                             \
       (a.send, a.receive, a.c.received.count, a.c.received.type, a.c.op, a.c.root,                \
        a.c.communicator))                                                                         \
    DO(allreduce, allreduce, REDUCED)                                                              \
    DO(reduce_scatter, reduce_scatter,                                                             \
       (a.send, a.receive, a.c.received.counts.data(), a.c.received.type, a.c.op,                  \
        a.c.communicator))                                                                         \
    DO(reduce_scatter_block, reduce_scatter_block, REDUCED)                                        \
    DO(scan, scan, REDUCED)                                                                        \
    DO(exscan, exscan, REDUCED)                                                                    \
    EACH_EXCHANGE(DO, neighbor_, wide_places)

#define REDUCED (a.send, a.receive, a.c.received.count, a.c.received.type, a.c.op, a.c.communicator)

#define EACH_EXCHANGE(DO, PREFIX, PLACES_OF_TYPES)                                                 \
    DO(PREFIX##allgather, PREFIX##allgather,                                                       \
       (a.send, a.c.sent.count, a.c.sent.type, a.receive, a.c.received.count, a.c.received.type,   \
        a.c.communicator))                                                                         \
    DO(PREFIX##allgatherv, PREFIX##allgatherv,                                                     \
       (a.send, a.c.sent.count, a.c.sent.type, a.receive, a.c.received.counts.data(),              \
        a.c.received.places.data(), a.c.received.type, a.c.communicator))                          \
    DO(PREFIX##alltoall, PREFIX##alltoall,                                                         \
       (a.send, a.c.sent.count, a.c.sent.type, a.receive, a.c.received.count, a.c.received.type,   \
        a.c.communicator))                                                                         \
    DO(PREFIX##alltoallv, PREFIX##alltoallv,                                                       \
       (a.send, a.c.sent.counts.data(), a.c.sent.places.data(), a.c.sent.type, a.receive,          \
        a.c.received.counts.data(), a.c.received.places.data(), a.c.received.type,                 \
        a.c.communicator))                                                                         \
    DO(PREFIX##alltoallw, PREFIX##alltoallw,                                                       \
       (a.send, a.c.sent.counts.data(), a.c.sent.PLACES_OF_TYPES.data(), a.c.sent.types.data(),    \
        a.receive, a.c.received.counts.data(), a.c.received.PLACES_OF_TYPES.data(),                \
        a.c.received.types.data(), a.c.communicator))

#define UNWRAPPED(...) __VA_ARGS__

/// The MPI's own, blocking: past Sluice.
inline int call_blocking(Arguments const& a) {
    // Capital letters are all that its names have of their own.
#define PMPI_barrier PMPI_Barrier
#define PMPI_bcast PMPI_Bcast
#define PMPI_gather PMPI_Gather
#define PMPI_gatherv PMPI_Gatherv
#define PMPI_scatter PMPI_Scatter
#define PMPI_scatterv PMPI_Scatterv
#define PMPI_allgather PMPI_Allgather
#define PMPI_allgatherv PMPI_Allgatherv
#define PMPI_alltoall PMPI_Alltoall
#define PMPI_alltoallv PMPI_Alltoallv
#define PMPI_alltoallw PMPI_Alltoallw
#define PMPI_reduce PMPI_Reduce
#define PMPI_allreduce PMPI_Allreduce
#define PMPI_reduce_scatter PMPI_Reduce_scatter
#define PMPI_reduce_scatter_block PMPI_Reduce_scatter_block
#define PMPI_scan PMPI_Scan
#define PMPI_exscan PMPI_Exscan
#define PMPI_neighbor_allgather PMPI_Neighbor_allgather
#define PMPI_neighbor_allgatherv PMPI_Neighbor_allgatherv
#define PMPI_neighbor_alltoall PMPI_Neighbor_alltoall
#define PMPI_neighbor_alltoallv PMPI_Neighbor_alltoallv
#define PMPI_neighbor_alltoallw PMPI_Neighbor_alltoallw
#define CALL(KIND, WORD, ARGUMENTS)                                                                \
    case Kind::KIND:                                                                               \
        return PMPI_##WORD ARGUMENTS;
    switch (a.c.kind) { EACH_KIND(CALL) }
#undef CALL
    return MPI_ERR_OTHER;
}

inline int call_nonblocking(Arguments const& a, MPI_Request* request) {
#define CALL(KIND, WORD, ARGUMENTS)                                                                \
    case Kind::KIND:                                                                               \
        return MPI_I##WORD(UNWRAPPED ARGUMENTS, request);
    switch (a.c.kind) { EACH_KIND(CALL) }
#undef CALL
    return MPI_ERR_OTHER;
}

inline int call_own(Arguments const& a, sluice_request* request) {
#define CALL(KIND, WORD, ARGUMENTS)                                                                \
    case Kind::KIND:                                                                               \
        return sluice_i##WORD(UNWRAPPED ARGUMENTS, request);
    switch (a.c.kind) { EACH_KIND(CALL) }
#undef CALL
    return MPI_ERR_OTHER;
}

inline int call_init(Arguments const& a, sluice_request* request) {
#define CALL(KIND, WORD, ARGUMENTS)                                                                \
    case Kind::KIND:                                                                               \
        return sluice_##WORD##_init(UNWRAPPED ARGUMENTS, request);
    switch (a.c.kind) { EACH_KIND(CALL) }
#undef CALL
    return MPI_ERR_OTHER;
}

}  // namespace collective_test
