// A rank's neighbours in a virtual topology, as the MPI's own calls name them.
#pragma once
#include <mpi.h>

#include <vector>

namespace collective_test {

struct Neighbours {
    std::vector<int> sources, destinations;
    int topology = MPI_UNDEFINED;

    /// A grid's are in pairs: in each dimension the one below and the one above (MPI-4.1, 8.6).
    [[nodiscard]] bool are_pairs() const { return topology == MPI_CART; }
};

inline Neighbours neighbours_of(MPI_Comm communicator) {
    Neighbours found;
    PMPI_Topo_test(communicator, &found.topology);
    if (found.topology == MPI_CART) {
        int dimensions = 0;
        PMPI_Cartdim_get(communicator, &dimensions);
        for (int i = 0; i < dimensions; ++i) {
            int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
            PMPI_Cart_shift(communicator, i, 1, &below, &above);
            for (int const rank : {below, above}) found.sources.push_back(rank);
        }
        found.destinations = found.sources;
    } else if (found.topology == MPI_GRAPH) {
        int rank = 0, count = 0;
        PMPI_Comm_rank(communicator, &rank);
        PMPI_Graph_neighbors_count(communicator, rank, &count);
        found.sources.resize(static_cast<std::size_t>(count));
        PMPI_Graph_neighbors(communicator, rank, count, found.sources.data());
        found.destinations = found.sources;
    } else if (found.topology == MPI_DIST_GRAPH) {
        int in = 0, out = 0, weighted = 0;
        PMPI_Dist_graph_neighbors_count(communicator, &in, &out, &weighted);
        found.sources.resize(static_cast<std::size_t>(in));
        found.destinations.resize(static_cast<std::size_t>(out));
        PMPI_Dist_graph_neighbors(communicator, in, found.sources.data(), MPI_UNWEIGHTED, out,
                                  found.destinations.data(), MPI_UNWEIGHTED);
    }
    return found;
}

}  // namespace collective_test
