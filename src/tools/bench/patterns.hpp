// Who accesses what: the file view of one rank for a named pattern, and the contents that make
// every word of the file checkable. Rows of a pattern tile the file: row n starts at n * row_bytes,
// and the ranks together cover each row exactly once.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

/// The value of a word depends on its place in the file and on `seed` only, so a byte that went
/// astray, is missing or is from an earlier write always shows.
double word_at(std::uint64_t file_offset, std::uint64_t seed);

class Pattern {
public:
    /// `wanted_bytes` of each rank are rounded to what the pattern can tile with.
    Pattern(std::string pattern_name, std::uint64_t wanted_bytes, std::uint64_t piece_bytes,
            int rank, int ranks);
    Pattern(Pattern const&) = delete;
    Pattern& operator=(Pattern const&) = delete;
    ~Pattern() { MPI_Type_free(&filetype); }

    std::string name;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;  ///< Of MPI_DOUBLE; its extent is one row.
    std::uint64_t row_bytes = 0;                ///< Of all ranks together.

    [[nodiscard]] int words() const { return words_; }  ///< Of this rank, in one row.
    [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t(words_) * sizeof(double); }

    /// What this rank holds of row `row`, in the order of its view.
    void fill(double* buffer, std::uint64_t seed, std::uint64_t row = 0) const;
    [[nodiscard]] std::uint64_t wrong_bytes(double const* buffer, std::uint64_t seed,
                                            std::uint64_t row = 0) const;

private:
    struct Piece {
        std::uint64_t offset;  ///< In the row.
        std::uint64_t words;
    };
    void make_contiguous(std::uint64_t bytes, int rank, int ranks);
    void make_strided(std::uint64_t bytes, std::uint64_t piece_bytes, int rank, int ranks);
    void make_block3d(std::uint64_t bytes, int rank, int ranks);

    int words_ = 0;
    std::vector<Piece> pieces_;  ///< Worked out apart from the datatype: it is the check on it.
};

/// Collective. Reads the file by POSIX calls, a part on each rank, and compares `rows` rows with
/// what must be there; counts a missing or surplus tail too. The sum of all ranks, on all ranks.
std::uint64_t wrong_bytes_in_file(std::string const& path, std::uint64_t bytes, std::uint64_t seed,
                                  int rank, int ranks);

/// The names asked for, in the order of the list above, with `all` spelt out.
std::vector<std::string> spell_out(std::vector<std::string> const& names);

}  // namespace sluice::bench
