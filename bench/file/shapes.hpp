// The shapes of patterns: for one rank, its pieces of the file (src/patterns), and the datatype
// that MPI is given for them. The two are made apart, so that one checks the other.
#pragma once
#include <mpi.h>

#include "bench/patterns/pattern.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

struct Run;

constexpr std::uint64_t word_bytes = sizeof(double);

/// Words that follow each other in the file.
struct Piece {
    std::uint64_t offset;  ///< In bytes, in the tile.
    std::uint64_t words;
};

/// User memory of the flash pattern: blocks of cells, each with a margin of guard cells around it
/// that no file holds. `blocks` 0: memory has no gaps.
struct Cells {
    static constexpr std::uint64_t inner = 8, guard = 4, outer = inner + 2 * guard;
    std::uint64_t blocks = 0;

    [[nodiscard]] std::uint64_t words() const { return blocks * outer * outer * outer; }
    [[nodiscard]] std::uint64_t runs() const { return blocks * inner * inner; }
    /// Where `inner` words of data lie together; runs are numbered as the file orders them.
    [[nodiscard]] static std::uint64_t place_of_run(std::uint64_t i) {
        auto const block = i / (inner * inner), plane = i / inner % inner, line = i % inner;
        return ((block * outer + guard + plane) * outer + guard + line) * outer + guard;
    }
};

struct Shape {
    std::vector<Piece> pieces;     ///< Of this rank, in one tile, ascending.
    std::uint64_t tile_bytes = 0;  ///< Of all ranks together.
    std::uint64_t tiles = 1;       ///< In one row; the tile repeats.
    std::uint64_t step = 1;  ///< Of so many words in the file the last is data, the others holes.
    MPI_Datatype tile = MPI_DATATYPE_NULL;  ///< Not committed; its extent is tile_bytes.
    int rows = 1;                           ///< Calls of one access.
    Cells memory;
};

/// Why a pattern is not possible with this number of ranks; empty: it is.
std::string why_not(Run const& run, std::string const& name);

/// The shape of a pattern for this rank; `bytes` are those of one rank in one access.
Shape make_shape(Run const& run, std::string const& name, std::uint64_t bytes);

/// The names of all patterns, in the order in which they are measured.
std::vector<std::string> const& pattern_names();

/// One hindexed type of all pieces, as a program with lists makes it.
MPI_Datatype type_of_pieces(std::vector<Piece> const& pieces, std::uint64_t extent);

/// Collective when it is called first: that of the pattern e3sm, or why there is none.
patterns::Decomposition const& decomposition_of(Run const& run, std::string& error);

}  // namespace sluice::bench
