// Buffers that share memory: the rank that brings them hears MPI_ERR_BUFFER at the call, by one
// call of the handler; the others end with right bytes, and so do the calls that follow.
#pragma once
#include "collective_legal.hpp"

#include <functional>

namespace collective_test {

/// What each call sends and receives: two ints a block.
struct AliasedBlocks {
    static constexpr int count = 2;
    explicit AliasedBlocks(MPI_Comm its_communicator) : communicator(its_communicator) {
        for (std::size_t i = 0; i < ranks; ++i) {
            places.push_back(count * static_cast<int>(i));
            bytes.push_back(static_cast<int>(sizeof(int)) * places.back());
            far.push_back(bytes.back());
        }
    }
    MPI_Comm communicator;
    std::size_t const ranks = static_cast<std::size_t>(check::size());
    std::vector<int> counts = std::vector<int>(ranks, count), places, bytes;
    std::vector<MPI_Aint> far;
    std::vector<MPI_Datatype> types = std::vector<MPI_Datatype>(ranks, MPI_INT);
};

struct Aliasing {
    char const* name;
    bool rooted;  ///< Only the root sends and receives.
    bool of_neighbours;
    std::function<int(AliasedBlocks const&, void*, void*, MPI_Request*)> start;
};

inline std::vector<Aliasing> moving_kinds() {
    constexpr int n = AliasedBlocks::count;
    auto const t = MPI_INT;
    using M = AliasedBlocks const&;
    using R = MPI_Request*;
    return {
        {"gather", true, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Igather(s, n, t, r, n, t, 0, m.communicator, q);
         }},
        {"gatherv", true, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Igatherv(s, n, t, r, m.counts.data(), m.places.data(), t, 0, m.communicator,
                                 q);
         }},
        {"scatter", true, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Iscatter(s, n, t, r, n, t, 0, m.communicator, q);
         }},
        {"scatterv", true, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Iscatterv(s, m.counts.data(), m.places.data(), t, r, n, t, 0,
                                  m.communicator, q);
         }},
        {"allgather", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Iallgather(s, n, t, r, n, t, m.communicator, q);
         }},
        {"allgatherv", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Iallgatherv(s, n, t, r, m.counts.data(), m.places.data(), t, m.communicator,
                                    q);
         }},
        {"alltoall", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ialltoall(s, n, t, r, n, t, m.communicator, q);
         }},
        {"alltoallv", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ialltoallv(s, m.counts.data(), m.places.data(), t, r, m.counts.data(),
                                   m.places.data(), t, m.communicator, q);
         }},
        {"alltoallw", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ialltoallw(s, m.counts.data(), m.bytes.data(), m.types.data(), r,
                                   m.counts.data(), m.bytes.data(), m.types.data(), m.communicator,
                                   q);
         }},
        {"neighbor_allgather", false, true,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ineighbor_allgather(s, n, t, r, n, t, m.communicator, q);
         }},
        {"neighbor_alltoallv", false, true,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ineighbor_alltoallv(s, m.counts.data(), m.places.data(), t, r,
                                            m.counts.data(), m.places.data(), t, m.communicator, q);
         }},
        {"neighbor_alltoallw", false, true,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ineighbor_alltoallw(s, m.counts.data(), m.far.data(), m.types.data(), r,
                                            m.counts.data(), m.far.data(), m.types.data(),
                                            m.communicator, q);
         }},
    };
}

inline std::vector<Aliasing> reducing_kinds() {
    constexpr int n = AliasedBlocks::count;
    auto const t = MPI_INT;
    auto const sum = MPI_SUM;
    using M = AliasedBlocks const&;
    using R = MPI_Request*;
    return {
        {"reduce", true, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ireduce(s, r, n, t, sum, 0, m.communicator, q);
         }},
        {"allreduce", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Iallreduce(s, r, n, t, sum, m.communicator, q);
         }},
        {"reduce_scatter", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ireduce_scatter(s, r, m.counts.data(), t, sum, m.communicator, q);
         }},
        {"reduce_scatter_block", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Ireduce_scatter_block(s, r, n, t, sum, m.communicator, q);
         }},
        {"scan", false, false,
         [=](M m, void* s, void* r, R q) { return MPI_Iscan(s, r, n, t, sum, m.communicator, q); }},
        {"exscan", false, false,
         [=](M m, void* s, void* r, R q) {
             return MPI_Iexscan(s, r, n, t, sum, m.communicator, q);
         }},
    };
}

/// Each kind once with two buffers, where all is right, and once with one on `aliased` ranks.
inline void one_kind(Aliasing const& kind, AliasedBlocks const& memory, bool aliased,
                     std::size_t shift) {
    std::string const what = std::string(kind.name) + (aliased ? ", aliased" : "");
    std::size_t const room = AliasedBlocks::count * (memory.ranks + 2);
    std::vector<int> sent(room, check::rank() + 1), expected(room, -1), got(room, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(kind.start(memory, sent.data(), expected.data(), &request), what);
    wait(request);
    // The first rank's buffer may be any of an exscan, so it is wrong only if it is looked at.
    std::string const name = kind.name;
    bool const receives = !kind.rooted || check::rank() == 0;
    bool const unused = name == "exscan" && check::rank() == 0;
    if (aliased && receives && !unused) {
        std::vector<int> const before = sent;
        expect(MPI_ERR_BUFFER, what.c_str(),
               [&] { return kind.start(memory, sent.data() + shift, sent.data(), &request); });
        check::is_true(request == MPI_REQUEST_NULL, what + ": no request");
        check::is_true(before == sent, what + ": memory is as it was");
    } else {
        check::ok(kind.start(memory, sent.data(), got.data(), &request), what);
        wait(request);
        check::is_true(expected == got, what + ": what others receive");
    }
}

inline void aliases_of(std::vector<Aliasing> const& kinds) {
    Fresh const fresh;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &handler);
    int const ranks = check::size(), periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(fresh.communicator, 1, &ranks, &periodic, 0, &ring);
    for (MPI_Comm const communicator : {fresh.communicator, ring})
        MPI_Comm_set_errhandler(communicator, handler);
    for (Aliasing const& kind : kinds) {
        AliasedBlocks const memory(kind.of_neighbours ? ring : fresh.communicator);
        if (kind.of_neighbours && ranks < 2) continue;  // It has two blocks, of itself.
        for (int only = -1; only < ranks; ++only)
            one_kind(kind, memory, only < 0 || only == check::rank(), 0);
        one_kind(kind, memory, true, 1);  // They overlap by less than all.
    }
    MPI_Comm_free(&ring);
    MPI_Errhandler_free(&handler);
}

inline void aliased_moves() { aliases_of(moving_kinds()); }
inline void aliased_reductions() { aliases_of(reducing_kinds()); }

/// As MPICH finds it: what a rank sends lies where it receives it.
inline void aliased_own_blocks() {
    Fresh const fresh;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(fresh.communicator, handler);
    AliasedBlocks const memory(fresh.communicator);
    std::vector<int> all(memory.ranks * AliasedBlocks::count);
    for (Aliasing const& kind : moving_kinds()) {
        if (std::string_view(kind.name).substr(0, 9) != "allgather") continue;
        MPI_Request request = MPI_REQUEST_NULL;
        expect(MPI_ERR_BUFFER, kind.name, [&] {
            int* const own = &all[static_cast<std::size_t>(check::rank()) * AliasedBlocks::count];
            return kind.start(memory, own, all.data(), &request);
        });
    }
    MPI_Errhandler_free(&handler);
}

/// Blocks of one buffer that take turns share no memory, though it is one buffer.
inline void blocks_take_turns() {
    Fresh const fresh;
    std::size_t const ranks = static_cast<std::size_t>(check::size());
    std::vector<int> both(2 * ranks, -1), counts(ranks, 1), even, odd;
    for (int i = 0; i < check::size(); ++i) {
        even.push_back(2 * i);
        odd.push_back(2 * i + 1);
        both[static_cast<std::size_t>(2 * i)] = 100 * check::rank() + i;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_Ialltoallv(both.data(), counts.data(), even.data(), MPI_INT, both.data(),
                             counts.data(), odd.data(), MPI_INT, fresh.communicator, &request));
    wait(request);
    for (int i = 0; i < check::size(); ++i)
        check::is_equal(100 * i + check::rank(), both[static_cast<std::size_t>(2 * i + 1)], "odd");
}

inline std::vector<check::Test> alias_tests() {
    return {{"aliases/moves", aliased_moves},
            {"aliases/reductions", aliased_reductions},
            {"aliases/own_blocks", aliased_own_blocks},
            {"aliases/blocks_take_turns", blocks_take_turns}};
}

}  // namespace collective_test
