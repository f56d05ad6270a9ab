// What a call that only moves data must give, made of single messages: nothing but datatypes of
// messages is trusted. Blocking.
#pragma once
#include "check.hpp"
#include "collective_call.hpp"
#include "collective_neighbours.hpp"

namespace collective_test {

class Messages {
public:
    explicit Messages(Arguments const& a) : a_(a), ranks_(static_cast<int>(a.c.ranks)) {
        PMPI_Comm_rank(a.c.communicator, &rank_);
    }

    int run() {
        if (a_.c.kind >= Kind::neighbor_allgather) return with_neighbours();
        bool const all_to_all = a_.c.kind >= Kind::alltoall && a_.c.kind <= Kind::alltoallw;
        if (all_to_all && a_.send == MPI_IN_PLACE) return replace();
        for (int other = 0; other < ranks_; ++other) {
            if (receives(other)) receive(received(other), other, tag);
        }
        for (int other = 0; other < ranks_; ++other) {
            if (sends(other)) send(sent(other), other, tag);
        }
        return wait();
    }

private:
    static constexpr int tag = 77;
    struct Block {
        char* at;
        int count;
        MPI_Datatype type;
    };

    static Block block(Side const& side, void const* memory, int which) {
        auto* const base = static_cast<char*>(const_cast<void*>(memory));
        auto const i = static_cast<std::size_t>(which);
        MPI_Aint lower = 0, extent = 0;
        PMPI_Type_get_extent(side.type, &lower, &extent);
        if (side.counts.empty()) return {base + which * side.count * extent, side.count, side.type};
        return {base + side.places[i] * extent, side.counts[i], side.type};
    }
    /// The one for, or from, that rank.
    [[nodiscard]] Block of(Side const& side, void const* memory, int which) const {
        bool const wide = a_.c.kind == Kind::neighbor_alltoallw;
        if (a_.c.kind != Kind::alltoallw && !wide) return block(side, memory, which);
        auto const i = static_cast<std::size_t>(which);
        auto* const base = static_cast<char*>(const_cast<void*>(memory));
        return {base + (wide ? side.wide_places[i] : side.places[i]), side.counts[i],
                side.types[i]};
    }

    [[nodiscard]] bool is_root() const { return rank_ == a_.c.root; }
    [[nodiscard]] bool sends(int to) const {
        switch (a_.c.kind) {
        case Kind::bcast:
            return is_root() && to != rank_;
        case Kind::gather:
        case Kind::gatherv:
            return to == a_.c.root && a_.send != MPI_IN_PLACE;
        case Kind::scatter:
        case Kind::scatterv:
            return is_root() && (to != rank_ || a_.receive != MPI_IN_PLACE);
        default:
            return to != rank_ || a_.send != MPI_IN_PLACE;
        }
    }
    [[nodiscard]] bool receives(int from) const {
        switch (a_.c.kind) {
        case Kind::bcast:
            return from == a_.c.root && !is_root();
        case Kind::gather:
        case Kind::gatherv:
            return is_root() && (from != rank_ || a_.send != MPI_IN_PLACE);
        case Kind::scatter:
        case Kind::scatterv:
            return from == a_.c.root && a_.receive != MPI_IN_PLACE;
        default:
            return from != rank_ || a_.send != MPI_IN_PLACE;
        }
    }
    [[nodiscard]] Block sent(int to) const {
        Side const &from = a_.c.sent, &into = a_.c.received;
        if (a_.c.kind == Kind::bcast) return block(into, a_.receive, 0);
        if (a_.send == MPI_IN_PLACE) return block(into, a_.receive, rank_);  // An allgather.
        bool const one =
            a_.c.kind != Kind::scatter && a_.c.kind != Kind::scatterv && a_.c.kind < Kind::alltoall;
        return of(from, a_.send, one ? 0 : to);
    }
    [[nodiscard]] Block received(int from) const {
        bool const one =
            a_.c.kind == Kind::bcast || a_.c.kind == Kind::scatter || a_.c.kind == Kind::scatterv;
        return of(a_.c.received, a_.receive, one ? 0 : from);
    }

    /// A grid's rank can be its neighbour's neighbour on both sides, so the tag says on which side
    /// the sender has the receiver. Messages along repeated edges of a graph match in their order.
    int with_neighbours() {
        Neighbours const neighbours = neighbours_of(a_.c.communicator);
        bool const pairs = neighbours.are_pairs();
        bool const one = a_.c.kind < Kind::neighbor_alltoall;
        int place = 0;
        for (int const from : neighbours.sources) {
            receive(of(a_.c.received, a_.receive, place), from, tag + (pairs ? place ^ 1 : 0));
            ++place;
        }
        place = 0;
        for (int const to : neighbours.destinations) {
            send(of(a_.c.sent, a_.send, one ? 0 : place), to, tag + (pairs ? place : 0));
            ++place;
        }
        return wait();
    }

    void send(Block const& b, int to, int with_tag) {
        requests_.push_back(MPI_REQUEST_NULL);
        check::ok(
            PMPI_Isend(b.at, b.count, b.type, to, with_tag, a_.c.communicator, &requests_.back()));
    }
    void receive(Block const& b, int from, int with_tag) {
        requests_.push_back(MPI_REQUEST_NULL);
        check::ok(PMPI_Irecv(b.at, b.count, b.type, from, with_tag, a_.c.communicator,
                             &requests_.back()));
    }
    int wait() {
        return PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(),
                            MPI_STATUSES_IGNORE);
    }
    /// Pairs in the same order on all ranks, so nobody waits for one who waits for him.
    int replace() {
        for (int other = 0; other < ranks_; ++other) {
            Block const b = of(a_.c.received, a_.receive, other);
            if (other == rank_) continue;
            check::ok(PMPI_Sendrecv_replace(b.at, b.count, b.type, other, tag, other, tag,
                                            a_.c.communicator, MPI_STATUS_IGNORE));
        }
        return MPI_SUCCESS;
    }

    Arguments const& a_;
    int rank_ = 0, ranks_;
    std::vector<MPI_Request> requests_;
};

}  // namespace collective_test
