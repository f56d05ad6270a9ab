// What a call must give: the MPI's own blocking answer, past Sluice. Where an MPI's own function is
// wrong or ends the program, the answer is made of other functions of its: all of those are here.
//   MPI_Gather, MPICH 5.0.2: in trees of ranks it refuses some structures (MPI_ERR_TYPE).
//   MPI_Reduce_scatter, MPICH 5.0.2: in place and large it copies between ranges that overlap, and
//   ends the program.
//   MPI_Alltoallw, Open MPI 5.0.11: on one rank it takes displacements for multiples of extents.
#pragma once
#include "check.hpp"
#include "collective_call.hpp"

#include <numeric>

namespace collective_test {

/// The root's blocks arrive one by one, so that nothing but a message's datatypes is trusted.
inline int gather_by_messages(Arguments const& a) {
    static constexpr int tag = 77;
    MPI_Comm const communicator = a.c.communicator;
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    MPI_Request sent = MPI_REQUEST_NULL;
    if (a.send != MPI_IN_PLACE) {
        check::ok(
            PMPI_Isend(a.send, a.c.sent.count, a.c.sent.type, a.c.root, tag, communicator, &sent));
    }
    Side const& to = a.c.received;
    MPI_Aint lower = 0, extent = 0;
    if (rank == a.c.root) PMPI_Type_get_extent(to.type, &lower, &extent);
    for (int i = 0; rank == a.c.root && i < static_cast<int>(a.c.ranks); ++i) {
        if (i == rank && a.send == MPI_IN_PLACE) continue;
        check::ok(PMPI_Recv(static_cast<char*>(a.receive) + i * to.count * extent, to.count,
                            to.type, i, tag, communicator, MPI_STATUS_IGNORE));
    }
    return PMPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/// One rank's block for itself, where its displacements in bytes say.
inline int alltoallw_alone(Arguments const& a) {
    if (a.send == MPI_IN_PLACE) return MPI_SUCCESS;
    Side const &from = a.c.sent, &to = a.c.received;
    return PMPI_Sendrecv(static_cast<char const*>(a.send) + from.places[0], from.counts[0],
                         from.types[0], 0, 0, static_cast<char*>(a.receive) + to.places[0],
                         to.counts[0], to.types[0], 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/// All of the result on each rank, of which it keeps its part; bytes between values stay.
inline int reduce_and_cut(Arguments const& a) {
    std::vector<int> counts = a.c.received.counts;
    if (a.c.kind == Kind::reduce_scatter_block) counts.assign(a.c.ranks, a.c.received.count);
    int rank = 0;
    PMPI_Comm_rank(a.c.communicator, &rank);
    int const first = std::accumulate(counts.begin(), counts.begin() + rank, 0);
    int const all = std::accumulate(counts.begin(), counts.end(), 0);
    int const mine = counts[static_cast<std::size_t>(rank)];
    void const* const from = a.send == MPI_IN_PLACE ? a.receive : a.send;
    std::vector<unsigned char> whole(a.c.element * static_cast<std::size_t>(all) + 64);
    int const code =
        PMPI_Allreduce(from, whole.data(), all, a.c.received.type, a.c.op, a.c.communicator);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Sendrecv(whole.data() + a.c.element * static_cast<std::size_t>(first), mine,
                         a.c.received.type, 0, 0, a.receive, mine, a.c.received.type, 0, 0,
                         MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

inline int ask_mpi(Arguments const& a) {
    if (a.c.kind == Kind::gather) return gather_by_messages(a);
    if (a.c.kind == Kind::alltoallw && a.c.ranks == 1) return alltoallw_alone(a);
    bool const cut = a.c.kind == Kind::reduce_scatter || a.c.kind == Kind::reduce_scatter_block;
    return cut && a.send == MPI_IN_PLACE ? reduce_and_cut(a) : call_blocking(a);
}

}  // namespace collective_test
