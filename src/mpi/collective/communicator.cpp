// How virtual topologies and error handlers are read. See communicator.hpp.
#include "mpi/collective/communicator.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// What a rank sends down in a dimension the neighbour takes from above: in periodic dimensions of
/// one or two ranks both neighbours are the same rank, so the order matters (MPI-4.1, 8.6).
Neighbours of_grid(MPI_Comm grid) {
    Neighbours all;
    int dimensions = 0;
    PMPI_Cartdim_get(grid, &dimensions);
    auto const add = [](std::vector<Neighbours::Block>& to, int rank, int place) {
        if (rank != MPI_PROC_NULL) to.push_back({rank, place});
    };
    for (int i = 0; i < dimensions; ++i) {
        int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
        PMPI_Cart_shift(grid, i, 1, &below, &above);
        add(all.destinations, below, 2 * i);
        add(all.destinations, above, 2 * i + 1);
        add(all.sources, above, 2 * i + 1);
        add(all.sources, below, 2 * i);
    }
    return all;
}

std::vector<Neighbours::Block> in_order(std::vector<int> const& ranks) {
    std::vector<Neighbours::Block> all;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i] != MPI_PROC_NULL) all.push_back({ranks[i], static_cast<int>(i)});
    }
    return all;
}

Neighbours of_graph(MPI_Comm graph) {
    int self = 0, count = 0;
    PMPI_Comm_rank(graph, &self);
    PMPI_Graph_neighbors_count(graph, self, &count);
    std::vector<int> ranks(static_cast<std::size_t>(count));
    PMPI_Graph_neighbors(graph, self, count, ranks.data());
    return {in_order(ranks), in_order(ranks)};
}

Neighbours of_distributed_graph(MPI_Comm graph) {
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    std::vector<int> sources(static_cast<std::size_t>(in)),
        weights(static_cast<std::size_t>(std::max(in, out))),
        destinations(static_cast<std::size_t>(out)), others(weights);
    bool const has_weights = weighted != 0;
    PMPI_Dist_graph_neighbors(graph, in, sources.data(),
                              has_weights ? weights.data() : MPI_UNWEIGHTED, out,
                              destinations.data(), has_weights ? others.data() : MPI_UNWEIGHTED);
    return {in_order(sources), in_order(destinations)};
}

std::optional<Neighbours> neighbours_in(MPI_Comm communicator) {
    int kind = MPI_UNDEFINED;
    PMPI_Topo_test(communicator, &kind);
    if (kind == MPI_CART) return of_grid(communicator);
    if (kind == MPI_GRAPH) return of_graph(communicator);
    if (kind == MPI_DIST_GRAPH) return of_distributed_graph(communicator);
    return std::nullopt;
}

}  // namespace

int Communicator::raise(int error) const {
    if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(freed_ ? MPI_COMM_SELF : handle_, error);
    return error;
}

Neighbours const* Communicator::neighbours() const {
    std::call_once(once_, [this] { neighbours_ = neighbours_in(handle_); });
    return neighbours_ ? &*neighbours_ : nullptr;
}

}  // namespace sluice
