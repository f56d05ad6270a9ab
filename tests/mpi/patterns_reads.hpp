// Patterns for reading only: overlaps between ranks, and the end of the file at every place.
#pragma once
#include "patterns_cases.hpp"

namespace patterns {

inline Request all_read_all(int, int) { return {{}, 100, element(MPI_BYTE), 9000}; }

/// Each rank's run covers half of the next one's.
inline Request overlapping(int rank, int) { return {{}, rank * 1000 + 1, element(MPI_BYTE), 2000}; }

/// Strided views that share some elements and not others.
inline Request overlapping_strided(int rank, int) {
    Layout const mine = model::resized(model::vector(element(MPI_INT), 10, 4 + rank % 3, 9), 400);
    return {{8 * rank, MPI_INT, mine}, 3, element(MPI_INT), 300};
}

/// One request that covers the same bytes of the file as the gaps of another.
inline Request irregular_overlapping(int rank, int ranks) {
    auto const seed = static_cast<std::uint64_t>(rank) + 11;
    Layout const mine = model::resized(model::runs(dealt_runs(0, ranks, 5000, seed)), 5000);
    Layout const memory = model::resized(model::vector(element(MPI_BYTE), 7, 3, 5), 50);
    return {{rank, MPI_BYTE, mine}, 17, memory, static_cast<int>(mine.size() / 21)};
}

/// The last ranks' runs cross the end of the file (at 10007 bytes), or lie behind it.
inline Request across_end(int rank, int ranks) {
    return {{}, 10007 - 1000 * (ranks - rank) + 500, element(MPI_BYTE), 900};
}

inline Request all_across_end(int rank, int) { return {{}, 9000 + rank, element(MPI_INT), 500}; }

inline Request behind_end(int rank, int) {
    return {{}, rank == 0 ? 10000 : 20000 * (rank + 1), element(MPI_BYTE), 64};
}

inline Request strided_across_end(int rank, int ranks) {
    Layout const mine =
        model::resized(model::vector(element(MPI_BYTE), 100, 10, 10 * ranks), 1000 * ranks);
    Layout const memory = model::resized(model::vector(element(MPI_BYTE), 5, 2, 3), 16);
    return {{10 * rank, MPI_BYTE, mine}, 0, memory, 1100};
}

// A view may have bytes more than once where the file is opened for reading only (MPI-4.1, 14.3).

inline Request twice_in_a_tile(int rank, int) {
    Layout const mine = model::resized(model::vector(element(MPI_BYTE), 6, 4 + rank % 3, 2), 30);
    return {{7 * rank, MPI_BYTE, mine}, 5, element(MPI_BYTE), 700};
}

inline Request same_bytes_again(int rank, int) {
    Layout const mine = model::resized(model::vector(element(MPI_SHORT), 3, 2 + rank % 2, 0), 11);
    Layout const memory = model::resized(model::vector(element(MPI_BYTE), 2, 3, 5), 10);
    return {{rank, MPI_SHORT, mine}, 3, memory, 100};
}

inline Request twice_across_tiles(int rank, int) {
    Layout const mine = model::resized(model::vector(element(MPI_BYTE), 2, 3, 5), 4 + rank % 2);
    return {{3 * rank, MPI_BYTE, mine}, 2, element(MPI_BYTE), 600};
}

inline Request twice_in_etypes(int rank, int) {
    static MPI_Datatype const etype = [] {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_create_hvector(2, 3, 2, MPI_BYTE, &made);
        MPI_Type_commit(&made);
        check::free_at_end(made);
        return made;
    }();
    Layout const part = model::vector(element(MPI_BYTE), 2, 3, 2);
    Layout const mine = model::resized(model::vector(part, 2, 1, 2), 20);
    return {{rank, etype, mine}, 1, element(MPI_BYTE), 6 * 40};
}

inline std::vector<Pattern> read_patterns() {
    return {{"all_read_all", 10007, all_read_all},
            {"overlapping", 10007, overlapping},
            {"overlapping_strided", 40007, overlapping_strided},
            {"irregular_overlapping", 40007, irregular_overlapping},
            {"across_end", 10007, across_end},
            {"all_across_end", 10007, all_across_end},
            {"behind_end", 10007, behind_end},
            {"strided_across_end", 10007, strided_across_end},
            {"twice_in_a_tile", 10007, twice_in_a_tile},
            {"same_bytes_again", 10007, same_bytes_again},
            {"twice_across_tiles", 10007, twice_across_tiles},
            {"twice_in_etypes", 10007, twice_in_etypes},
            {"empty_file", 0, overlapping}};
}

}  // namespace patterns
