// What a call must give, past Sluice: made of messages where data only moves, else the MPI's own
// blocking answer. What the MPIs' own functions get wrong, which is why they are not asked:
//   MPI_Allgatherv, MPICH 5.0.2: cuts long messages by extents, which may differ between ranks.
//   MPI_Gather, MPICH 5.0.2: in trees of ranks it refuses some structures (MPI_ERR_TYPE).
//   MPI_Reduce, Intel MPI 2021.18.1: on four ranks and more it combines wrong elements of 1,100 to
//   1,800 of MPI_DOUBLE_INT, whose extent is longer than its values.
//   MPI_Reduce_scatter, MPICH 5.0.2: in place and large it copies between ranges that overlap, and
//   ends the program.
//   MPI_Allgatherv, Open MPI 5.0.11: each rank chooses the algorithm by its own datatype, so that
//   ranks with different ones hang.
//   MPI_Alltoallw, Open MPI 5.0.11: on one rank it takes displacements for multiples of extents.
//   MPI_Neighbor_alltoall and its kind, Intel MPI 2021.18.1: in periodic dimensions of one or two
//   ranks the blocks of the two neighbours are the other way round than MPI-4.1, 8.6 has them.
#pragma once
#include "collective_messages.hpp"

#include <numeric>

namespace collective_test {

/// Of a reduction whose whole result each rank has: what one rank keeps.
struct Part {
    int first = 0, count = 0, all = 0;
};

inline Part part_of(Call const& c) {
    int rank = 0;
    PMPI_Comm_rank(c.communicator, &rank);
    int const each = c.received.count;
    if (c.kind == Kind::reduce) return {0, rank == c.root ? each : 0, each};
    std::vector<int> counts = c.received.counts;
    if (c.kind == Kind::reduce_scatter_block) counts.assign(c.ranks, each);
    auto const of_first = [&](int ranks) {
        return std::accumulate(counts.begin(), counts.begin() + ranks, 0);
    };
    return {of_first(rank), counts[static_cast<std::size_t>(rank)],
            of_first(static_cast<int>(counts.size()))};
}

/// All of the result on each rank, of which it keeps its part; bytes between values stay.
inline int reduce_and_cut(Arguments const& a) {
    Part const part = part_of(a.c);
    void const* const from = a.send == MPI_IN_PLACE ? a.receive : a.send;
    std::vector<unsigned char> whole(a.c.element * static_cast<std::size_t>(part.all) + 64);
    int const code =
        PMPI_Allreduce(from, whole.data(), part.all, a.c.received.type, a.c.op, a.c.communicator);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Sendrecv(whole.data() + a.c.element * static_cast<std::size_t>(part.first),
                         part.count, a.c.received.type, 0, 0, a.receive, part.count,
                         a.c.received.type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

inline int ask_mpi(Arguments const& a) {
    bool const moves = (a.c.kind >= Kind::bcast && a.c.kind <= Kind::alltoallw) ||
                       a.c.kind >= Kind::neighbor_allgather;
    if (moves) return Messages(a).run();
    bool const scatters =
        a.c.kind == Kind::reduce_scatter || a.c.kind == Kind::reduce_scatter_block;
    bool const is_cut = a.c.kind == Kind::reduce || (scatters && a.send == MPI_IN_PLACE);
    return is_cut ? reduce_and_cut(a) : call_blocking(a);
}

}  // namespace collective_test
