// Who accesses what: the file view of one rank for a named pattern, and the contents that make
// every word of the file checkable. Rows of a pattern tile the file: row n starts at n * row_bytes,
// and the ranks together cover each row exactly once.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/file/shapes.hpp"
#include "bench/measure/bench.hpp"

namespace sluice::bench {

/// The value of a word depends on its place in the file and on `seed` only, so a byte that went
/// astray, is missing or is from an earlier write always shows.
double word_at(std::uint64_t file_offset, std::uint64_t seed);

/// What user memory holds where no data is: before a read, and for ever between pieces of memory.
constexpr double untouched = -1;

/// Where a rank's even share of so many items begins; that of the rank behind the last is the end.
inline std::uint64_t share_begin(std::uint64_t items, int rank, int ranks) {
    return items * std::uint64_t(rank) / std::uint64_t(ranks);
}

/// Of the first repeat; below it is room for the warm-up's, whose numbers are negative.
constexpr std::uint64_t first_seed = 1000;

class Pattern {
public:
    /// `wanted_bytes` of each rank, in one access, are rounded to what the pattern can tile with.
    /// Linear in the pieces. The pattern must be possible (see patterns_of). With a shift each rank
    /// takes the part of the rank so much higher.
    Pattern(Run const& run, std::string pattern_name, std::uint64_t wanted_bytes, int shift = 0);
    Pattern(Pattern const&) = delete;
    Pattern& operator=(Pattern const&) = delete;
    ~Pattern();

    std::string name;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;  ///< Of MPI_DOUBLE; its extent is one row.
    MPI_Datatype memory = MPI_DOUBLE;           ///< Of user memory: memory_count() of it a row.
    std::uint64_t row_bytes = 0;                ///< Of all ranks together.

    /// One access is this many calls, each on the next row: of flash the variables, otherwise 1.
    [[nodiscard]] int rows() const { return shape_.rows; }
    [[nodiscard]] int words() const { return words_; }  ///< Data of this rank, in one row.
    [[nodiscard]] int memory_count() const { return shape_.memory.blocks != 0 ? 1 : words_; }
    /// Words of user memory for one row; more than words() where memory has gaps.
    [[nodiscard]] std::size_t memory_words() const;
    [[nodiscard]] std::uint64_t row_pieces() const { return shape_.pieces.size() * shape_.tiles; }
    /// Of a rank on average, in one row and in one access: an irregular pattern is not quite even.
    [[nodiscard]] std::uint64_t bytes() const {
        return row_bytes / shape_.step / std::uint64_t(ranks_);
    }
    [[nodiscard]] std::uint64_t access_bytes() const {
        return bytes() * std::uint64_t(shape_.rows);
    }
    [[nodiscard]] std::uint64_t file_bytes() const {
        return row_bytes * std::uint64_t(shape_.rows);
    }

    /// What this rank holds of row `row`, in the order of its view; gaps in memory are `untouched`.
    void fill(double* buffer, std::uint64_t seed, std::uint64_t row = 0) const;
    /// Also counts what a read changed in gaps that were `untouched`.
    [[nodiscard]] std::uint64_t wrong_bytes(double const* buffer, std::uint64_t seed,
                                            std::uint64_t row = 0) const;

    /// The same for all rows of one access, which follow each other in user memory.
    [[nodiscard]] std::vector<double> access_buffer() const;
    [[nodiscard]] std::size_t access_words() const {
        return memory_words() * std::size_t(shape_.rows);
    }
    void fill_access(std::span<double> buffer, std::uint64_t seed,
                     std::uint64_t first_row = 0) const;
    [[nodiscard]] std::uint64_t wrong_in_access(std::span<double const> buffer,
                                                std::uint64_t seed) const;

    /// Whether there are bytes in a row that no rank has.
    [[nodiscard]] bool has_holes() const { return shape_.step > 1; }
    /// Collective. Reads the file by POSIX calls, a part on each rank, and compares so many rows
    /// from its begin on, and what is behind them, with what must be there: zeros in holes. The sum
    /// of all ranks, on all ranks.
    [[nodiscard]] std::uint64_t wrong_in_file(Run const& run, std::string const& path,
                                              std::uint64_t seed, std::uint64_t rows) const;
    /// After one access.
    [[nodiscard]] std::uint64_t wrong_in_file(Run const& run, std::string const& path,
                                              std::uint64_t seed) const;

    /// Calls `visit(place, words)` for each piece of a row as a program would copy it: its place in
    /// user memory, in the order of the view. Pieces that gaps in memory divide come in parts.
    template <typename Visit> void for_each_copy(Visit&& visit) const;
    /// Calls `visit(offset in the file, bytes)` for each piece of one access.
    template <typename Visit> void for_each_piece(Visit&& visit) const;

private:
    int ranks_;
    int words_ = 0;
    Shape shape_;
};

template <typename Visit> void Pattern::for_each_copy(Visit&& visit) const {
    if (shape_.memory.blocks != 0) {
        for (std::uint64_t i = 0; i < shape_.memory.runs(); ++i)
            visit(shape_.memory.place_of_run(i), Cells::inner);
        return;
    }
    std::uint64_t place = 0;
    for (std::uint64_t tile = 0; tile < shape_.tiles; ++tile)
        for (auto const& piece : shape_.pieces) {
            visit(place, piece.words);
            place += piece.words;
        }
}

template <typename Visit> void Pattern::for_each_piece(Visit&& visit) const {
    for (std::uint64_t tile = 0; tile < shape_.tiles * std::uint64_t(shape_.rows); ++tile)
        for (auto const& piece : shape_.pieces)
            visit(tile * shape_.tile_bytes + piece.offset, piece.words * word_bytes);
}

/// Collective: Pattern::wrong_in_file() of a file of so many bytes, of each `step` words of which
/// the last is data.
std::uint64_t wrong_bytes_in_file(Run const& run, std::string const& path, std::uint64_t bytes,
                                  std::uint64_t seed, std::uint64_t step = 1);

/// The names asked for, `all` spelt out, without those that are not possible with this number of
/// ranks: a note says why.
std::vector<std::string> patterns_of(Run const& run);

}  // namespace sluice::bench
