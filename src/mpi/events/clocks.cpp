// The round trips between nodes. See clocks.hpp.
#include "mpi/events/clocks.hpp"

#include "system/clock.hpp"

#include <limits>

namespace sluice {
namespace {

constexpr int trips = 32;

void answer(MPI_Comm leaders, int peer) {
    for (int i = 0; i < trips; ++i) {
        std::int64_t time = 0;
        PMPI_Recv(&time, 1, MPI_INT64_T, peer, 0, leaders, MPI_STATUS_IGNORE);
        time = clock_now();
        PMPI_Send(&time, 1, MPI_INT64_T, peer, 0, leaders);
    }
}

TraceClock ask(MPI_Comm leaders) {
    TraceClock best{.error = std::numeric_limits<std::int64_t>::max()};
    for (int i = 0; i < trips; ++i) {
        std::int64_t const began = clock_now();
        std::int64_t theirs = began;
        PMPI_Send(&began, 1, MPI_INT64_T, 0, 0, leaders);
        PMPI_Recv(&theirs, 1, MPI_INT64_T, 0, 0, leaders, MPI_STATUS_IGNORE);
        std::int64_t const half = (clock_now() - began) / 2;
        if (half < best.error) best = {began + half, theirs - (began + half), half};
    }
    return best;
}

}  // namespace

NodeClocks::NodeClocks(MPI_Comm world) {
    int rank = 0, place = 0;
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    PMPI_Comm_rank(node_, &place);
    PMPI_Comm_split(world, place == 0 ? 0 : MPI_UNDEFINED, rank, &leaders_);
}

TraceClock NodeClocks::measure() const {
    TraceClock clock{clock_now(), 0, 0};
    if (node_ == MPI_COMM_NULL) return {clock.at, 0, -1};
    if (leaders_ != MPI_COMM_NULL) {
        int place = 0, count = 0;
        PMPI_Comm_rank(leaders_, &place);
        PMPI_Comm_size(leaders_, &count);
        for (int peer = 1; place == 0 && peer < count; ++peer) answer(leaders_, peer);
        if (place > 0) clock = ask(leaders_);
    }
    PMPI_Bcast(&clock, sizeof clock, MPI_BYTE, 0, node_);
    return clock;
}

void NodeClocks::free() {
    if (node_ != MPI_COMM_NULL) PMPI_Comm_free(&node_);
    if (leaders_ != MPI_COMM_NULL) PMPI_Comm_free(&leaders_);
}

}  // namespace sluice
