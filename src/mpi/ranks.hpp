// Short questions to a communicator that several files ask.
#pragma once
#include <mpi.h>
#include <numeric>
#include <vector>

namespace sluice {

[[nodiscard]] inline int rank_in(MPI_Comm communicator) {
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    return rank;
}

[[nodiscard]] inline int size_in(MPI_Comm communicator) {
    int size = 0;
    PMPI_Comm_size(communicator, &size);
    return size;
}

[[nodiscard]] inline bool is_intercommunicator(MPI_Comm communicator) {
    int inter = 0;
    PMPI_Comm_test_inter(communicator, &inter);
    return inter != 0;
}

/// Of a group's members; MPI_UNDEFINED for those that the communicator does not have. Local.
[[nodiscard]] inline std::vector<int> ranks_of(MPI_Group group, MPI_Comm communicator) {
    MPI_Group others = MPI_GROUP_NULL;
    PMPI_Comm_group(communicator, &others);
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> from(static_cast<std::size_t>(size)), to(from.size());
    std::iota(from.begin(), from.end(), 0);
    PMPI_Group_translate_ranks(group, size, from.data(), others, to.data());
    PMPI_Group_free(&others);
    return to;
}

/// The ranks of a communicator as ranks of `other`; MPI_UNDEFINED for those that it does not have.
[[nodiscard]] inline std::vector<int> ranks_in(MPI_Comm other, MPI_Comm communicator) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(communicator, &group);
    auto ranks = ranks_of(group, other);
    PMPI_Group_free(&group);
    return ranks;
}

/// Whether it is true on all ranks. Collective, blocks.
[[nodiscard]] inline bool all_agree(bool mine, MPI_Comm communicator) {
    int const own = mine ? 1 : 0;
    int all = 0;
    PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, communicator);
    return all == 1;
}

/// Whether MPI_COMM_WORLD may be used: not so in a program that has sessions only.
[[nodiscard]] inline bool has_world() {
    int begun = 0, ended = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    return begun != 0 && ended == 0;
}

/// Calls MPI so that it can make progress. Asks for a message that nobody sends, or that is left
/// alone: where MPICH finds one it moves nothing else. Nor does it for a communicator of one rank,
/// in whose place the world is asked. Every MPI grants the tag, and streams use lower ones.
inline void poke(MPI_Comm communicator) {
    constexpr int tag_never_used = 32767;
    int flag = 0;
    if (size_in(communicator) == 1 && has_world()) communicator = MPI_COMM_WORLD;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag_never_used, communicator, &flag, MPI_STATUS_IGNORE);
}

}  // namespace sluice
