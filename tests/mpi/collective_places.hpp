// Communicators to call collectives on: all ranks, some, in another order, in virtual topologies.
#pragma once
#include "collective_neighbours.hpp"
#include "collective_random.hpp"

namespace collective_test {

inline void look_around(Place& place) {
    MPI_Comm_rank(place.communicator, &place.rank);
    MPI_Comm_size(place.communicator, &place.ranks);
    Neighbours const neighbours = neighbours_of(place.communicator);
    place.has_neighbours = neighbours.topology != MPI_UNDEFINED;
    place.sources = neighbours.sources;
    place.destinations = neighbours.destinations;
}

class Places {
public:
    explicit Places(std::uint64_t seed) : random_(seed, {-1}) {
        int const rank = check::rank(), ranks = check::size();
        MPI_Comm made = MPI_COMM_NULL;
        add(MPI_COMM_WORLD, "world");
        add(MPI_COMM_SELF, "self");
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        add(made, "dup");
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
        add(made, "reversed");
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
        add(made, rank % 2 ? "odd ranks" : "even ranks");
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank * 7 % ranks, &made);
        add(made, "all but one");
        grid({false, false}, "grid");
        grid({true, true}, "periodic grid");
        grid({true}, "ring");
        graph();
        distributed_graph(false);
        distributed_graph(true);
    }
    ~Places() {
        for (Place& place : all_) {
            if (place.communicator != MPI_COMM_WORLD && place.communicator != MPI_COMM_SELF &&
                place.communicator != MPI_COMM_NULL) {
                MPI_Comm_free(&place.communicator);
            }
        }
    }
    Places(Places const&) = delete;
    Places& operator=(Places const&) = delete;

    /// The same number on all ranks; a null communicator on those outside.
    [[nodiscard]] Place const& operator[](std::size_t i) const { return all_[i]; }
    [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
    void add(MPI_Comm communicator, std::string name) {
        Place place;
        place.communicator = communicator;
        place.name = std::move(name);
        if (communicator != MPI_COMM_NULL) {
            MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
            look_around(place);
        }
        all_.push_back(std::move(place));
    }
    void grid(std::vector<int> const& periodic, std::string const& name) {
        auto const dimensions = static_cast<int>(periodic.size());
        std::vector<int> sizes(periodic.size(), 0);
        MPI_Dims_create(check::size(), dimensions, sizes.data());
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes.data(), periodic.data(), 0, &made);
        add(made, name);
    }
    /// A star: the first rank is everybody's neighbour.
    void graph() {
        int const ranks = check::size();
        std::vector<int> ends, edges;
        edges.reserve(1);  // Null is refused.
        for (int i = 1; i < ranks; ++i) edges.push_back(i);
        ends.push_back(ranks - 1);
        for (int i = 1; i < ranks; ++i) {
            edges.push_back(0);
            ends.push_back(ranks - 1 + i);
        }
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Graph_create(MPI_COMM_WORLD, ranks, ends.data(), edges.data(), 0, &made);
        add(made, "star");
    }
    /// Any edges, also to oneself and, if wanted, several between the same two.
    void distributed_graph(bool repeated) {
        int const ranks = check::size();
        std::vector<int> sources, destinations;
        for (int from = 0; from < ranks; ++from) {
            for (int to = 0; to < ranks; ++to) {
                int const edges = random_.chance(50) ? 0 : random_.between(1, repeated ? 3 : 1);
                for (int i = 0; i < edges; ++i) {
                    if (to == check::rank()) sources.push_back(from);
                    if (from == check::rank()) destinations.push_back(to);
                }
            }
        }
        Random own(random_.next(), {check::rank()});
        own.shuffle(sources);
        own.shuffle(destinations);
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()),
                                       sources.data(), MPI_UNWEIGHTED,
                                       static_cast<int>(destinations.size()), destinations.data(),
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
        add(made, repeated ? "graph with repeated edges" : "graph");
    }

    Random random_;
    std::vector<Place> all_;
};

}  // namespace collective_test
