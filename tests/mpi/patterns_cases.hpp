// The access patterns: for every pattern a pure function (rank, ranks) -> request. All ranks'
// requests of one pattern are disjoint in the file, as concurrent writes have to be.
#pragma once
#include "access.hpp"

#include <array>
#include <string>

namespace patterns {

using model::Blocks;
using model::element;
using model::Layout;
using model::Request;
using model::View;

struct Pattern {
    std::string name;
    std::int64_t prefilled_bytes;  ///< Some larger than the request's end, some smaller.
    std::function<Request(int rank, int ranks)> request_of;
};

inline Request contiguous(int rank, int) { return {{}, rank * 4099, element(MPI_BYTE), 4099}; }

/// Neighbouring ranks' elements alternate: the classic case for collective I/O.
inline Request strided(int rank, int ranks) {
    Layout const mine =
        model::resized(model::vector(element(MPI_INT), 16, 3, 3 * ranks), 16 * 3 * ranks * 4);
    return {{rank * 12, MPI_INT, mine}, 0, element(MPI_INT), 5 * 48};
}

/// Vectors of vectors, with holes at both levels that belong to nobody.
inline Request nested(int rank, int ranks) {
    Layout const row = model::vector(element(MPI_SHORT), 4, 2, 3);
    Layout const plane = model::hvector(row, 5, 40 * ranks);
    Layout const mine = model::resized(model::hvector(plane, 3, 240 * ranks), 800 * ranks);
    return {{40 * rank + 64, MPI_SHORT, mine}, 0, element(MPI_SHORT), 2 * 120};
}

/// Blocks of a 3-D array; the process grid is (ranks, 1, 1) turned so that rows are cut.
inline Request subarray(int rank, int ranks) {
    std::vector<int> const sizes{6, 5, 4 * ranks};
    Layout const mine = model::subarray(sizes, {6, 5, 4}, {0, 0, 4 * rank}, MPI_DOUBLE);
    return {{0, MPI_DOUBLE, mine}, 0, element(MPI_DOUBLE), 6 * 5 * 4};
}

/// A box in the middle of the array for each rank, with a rim of holes, and a local array with
/// ghost cells in memory.
inline Request ghosts(int rank, int ranks) {
    Layout const mine =
        model::subarray({4 * ranks + 2, 8, 7}, {4, 6, 5}, {4 * rank + 1, 1, 1}, MPI_INT);
    Layout const local = model::subarray({6, 8, 7}, {4, 6, 5}, {1, 1, 1}, MPI_INT);
    return {{128, MPI_INT, mine}, 0, local, 1};
}

/// Cyclic in one dimension, blocks in the other.
inline Request darray(int rank, int ranks) {
    int const rows = ranks % 2 == 0 ? 2 : 1;
    std::vector<model::Deal> const deals{{12, rows, 0}, {30, ranks / rows, 2}};
    Layout const mine = model::darray(deals, rank, ranks, MPI_INT);
    return {{8, MPI_INT, mine}, 0, element(MPI_INT), static_cast<int>(mine.size() / 4)};
}

/// Deals random runs of [0, bytes) to ranks 0 to ranks - 1, and some to nobody.
inline Blocks dealt_runs(int rank, int ranks, std::int64_t bytes, std::uint64_t seed) {
    Blocks mine;
    std::uint64_t random = seed;
    for (std::int64_t at = 0; at < bytes;) {
        random = model::mix(random);
        auto const length =
            std::min<std::int64_t>(1 + static_cast<std::int64_t>(random % 97), bytes - at);
        auto const owner = static_cast<int>((random >> 32U) % static_cast<unsigned>(ranks + 1));
        if (owner == rank) mine.push_back({at, length});
        at += length;
    }
    return mine;
}

inline Request irregular(int rank, int ranks) {
    Layout const mine = model::resized(model::runs(dealt_runs(rank, ranks, 20000, 5)), 20000);
    return {{77, MPI_BYTE, mine}, 0, element(MPI_BYTE), static_cast<int>(2 * mine.size())};
}

/// An int, a hole, a char, a hole, a double: records of which each rank fills every ranks-th.
inline Request record(int rank, int ranks) {
    Layout const one = model::structure(
        {{element(MPI_INT), 4}, {element(MPI_CHAR), 11}, {element(MPI_DOUBLE), 16}}, 40 * ranks);
    Layout const memory = model::structure(
        {{element(MPI_INT), 0}, {element(MPI_CHAR), 5}, {element(MPI_DOUBLE), 8}}, 24);
    return {{40 * rank, MPI_BYTE, one}, 0, memory, 50};
}

/// Starts in the middle of a block of a tile, at an odd byte.
inline Request odd_offset(int rank, int ranks) {
    Layout const mine =
        model::resized(model::vector(element(MPI_BYTE), 9, 7, 11 * ranks), 9 * 11 * ranks);
    return {{12345 + 11 * rank, MPI_BYTE, mine}, 63 + 10, element(MPI_BYTE), 333};
}

inline Request gaps_in_memory(int rank, int) {
    Layout const memory = model::resized(model::vector(element(MPI_INT), 10, 3, 5), 256);
    return {{0, MPI_INT, element(MPI_INT)}, rank * 30 * 20, memory, 20};
}

/// Memory in an order of its own: the data order is that of the type map, not of the addresses.
inline Request permuted_memory(int rank, int ranks) {
    Request request = strided(rank, ranks);
    Blocks shuffled;
    for (int i = 0; i < 48; ++i) shuffled.push_back({(i * 29 % 48) * 8 + 4, 4});
    request.memory = model::resized(model::runs(shuffled), 48 * 8);
    request.count = 5;
    return request;
}

inline Request some_nothing(int rank, int ranks) {
    Request request = strided(rank, ranks);
    if (rank % 2 == 1) request.count = 0;
    return request;
}

inline Request all_nothing(int rank, int ranks) {
    Request request = strided(rank, ranks);
    request.count = 0;
    return request;
}

/// Counts that are not zero of a type that is empty.
inline Request empty_type(int rank, int ranks) {
    Request request = strided(rank, ranks);
    if (rank == 0) {
        request.memory = model::contiguous(element(MPI_INT), 0);
        request.count = 7;
    }
    return request;
}

inline Request one_rank(int rank, int ranks) {
    Request request = contiguous(rank, ranks);
    if (rank != ranks - 1) request.count = 0;
    return request;
}

inline Request tiny(int rank, int) {
    return {{3, MPI_BYTE, element(MPI_BYTE)}, rank, element(MPI_BYTE), 1};
}

/// Very different amounts on the ranks, from one byte up.
inline Request unequal(int rank, int) {
    std::int64_t const start = (std::int64_t{1} << (2 * rank)) - 1;
    return {{}, start * 3, element(MPI_BYTE), static_cast<int>(3 * (start + 1))};
}

/// Rank 0 writes the end of the file and the last rank its start.
inline Request reversed(int rank, int ranks) {
    return {{9, MPI_BYTE, element(MPI_BYTE)}, (ranks - 1 - rank) * 3001, element(MPI_BYTE), 3001};
}

/// Far apart: most of the span belongs to nobody.
inline Request sparse(int rank, int ranks) {
    Layout const mine =
        model::resized(model::vector(element(MPI_BYTE), 3, 5, 300000 * ranks), 900000 * ranks);
    return {{300000 * rank + 1, MPI_BYTE, mine}, 0, element(MPI_BYTE), 15};
}

/// Some ranks have a plain view, some a strided one.
inline Request mixed_views(int rank, int ranks) {
    if (rank % 2 == 0) return {{}, 50000 + rank * 1500, element(MPI_BYTE), 1500};
    return odd_offset(rank, ranks);
}

inline int large_bytes() { return check::state().options.large_mib << 20U; }

inline Request large_contiguous(int rank, int) {
    return {{}, static_cast<std::int64_t>(rank) * large_bytes(), element(MPI_BYTE), large_bytes()};
}

inline Request large_strided(int rank, int ranks) {
    int const piece = 40000;
    Layout const mine = model::resized(model::contiguous(element(MPI_BYTE), piece),
                                       static_cast<std::int64_t>(piece) * ranks);
    return {{static_cast<std::int64_t>(piece) * rank, MPI_BYTE, mine},
            0,
            element(MPI_BYTE),
            large_bytes()};
}

/// Small pieces: very many of them in each window.
inline Request large_fine(int rank, int ranks) {
    Layout const mine =
        model::resized(model::vector(element(MPI_BYTE), 256, 48, 50 * ranks), 256LL * 50 * ranks);
    Layout const memory = model::resized(model::vector(element(MPI_BYTE), 64, 96, 100), 6400);
    return {{50 * rank, MPI_BYTE, mine}, 0, memory, large_bytes() / 6144 / 4};
}

inline std::vector<Pattern> all_patterns() {
    return {{"contiguous", 3000, contiguous},
            {"strided", 100000, strided},
            {"nested", 50000, nested},
            {"subarray", 0, subarray},
            {"ghosts", 20000, ghosts},
            {"darray", 1000, darray},
            {"irregular", 50000, irregular},
            {"record", 5000, record},
            {"odd_offset", 20000, odd_offset},
            {"gaps_in_memory", 100, gaps_in_memory},
            {"permuted_memory", 30000, permuted_memory},
            {"some_nothing", 30000, some_nothing},
            {"all_nothing", 500, all_nothing},
            {"empty_type", 500, empty_type},
            {"one_rank", 50000, one_rank},
            {"tiny", 11, tiny},
            {"unequal", 77, unequal},
            {"reversed", 50, reversed},
            {"sparse", 10, sparse},
            {"mixed_views", 100000, mixed_views}};
}

inline std::vector<Pattern> large_patterns() {
    return {{"large_contiguous", 1000, large_contiguous},
            {"large_strided", 0, large_strided},
            {"large_fine", 5 << 20, large_fine}};
}

}  // namespace patterns
