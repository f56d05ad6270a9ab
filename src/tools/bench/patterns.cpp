// The three patterns: one block a rank, interleaved pieces, and a block-distributed 3-D array. The
// datatype is what MPI is given; the list of pieces is the same thing by plain arithmetic.
#include "patterns.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint64_t word_bytes = sizeof(double);

/// A type whose extent is the whole row, so that consecutive calls go to consecutive rows.
MPI_Datatype resized_to_row(MPI_Datatype inner, std::uint64_t row_bytes) {
    MPI_Datatype row = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(inner, 0, MPI_Aint(row_bytes), &row);
    MPI_Type_free(&inner);
    return row;
}

MPI_Datatype at_displacement(MPI_Datatype inner, std::uint64_t offset) {
    int const one = 1;
    auto const displacement = MPI_Aint(offset);
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(1, &one, &displacement, inner, &moved);
    MPI_Type_free(&inner);
    return moved;
}

}  // namespace

double word_at(std::uint64_t file_offset, std::uint64_t seed) {
    auto x = (file_offset / word_bytes + 1) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    return double((x ^ (x >> 27)) >> 11);  // 53 bits: exact
}

Pattern::Pattern(std::string pattern_name, std::uint64_t wanted_bytes, std::uint64_t piece_bytes,
                 int rank, int ranks)
    : name(std::move(pattern_name)) {
    if (name == "contiguous") make_contiguous(wanted_bytes, rank, ranks);
    if (name == "strided") make_strided(wanted_bytes, piece_bytes, rank, ranks);
    if (name == "block3d") make_block3d(wanted_bytes, rank, ranks);
    check(MPI_Type_commit(&filetype), "MPI_Type_commit");
    std::uint64_t words = 0;
    for (auto const& piece : pieces_) words += piece.words;
    words_ = int(words);
    row_bytes = words * word_bytes * std::uint64_t(ranks);
}

void Pattern::make_contiguous(std::uint64_t bytes, int rank, int ranks) {
    auto const words = std::max(bytes / word_bytes, std::uint64_t{1});
    auto const offset = std::uint64_t(rank) * words * word_bytes;
    pieces_.push_back({offset, words});
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(int(words), MPI_DOUBLE, &block);
    filetype =
        resized_to_row(at_displacement(block, offset), words * word_bytes * std::uint64_t(ranks));
}

void Pattern::make_strided(std::uint64_t bytes, std::uint64_t piece_bytes, int rank, int ranks) {
    auto const words = std::max(piece_bytes / word_bytes, std::uint64_t{1});
    auto const piece = words * word_bytes;
    auto const stride = piece * std::uint64_t(ranks);
    auto const count = std::max(bytes / piece, std::uint64_t{1});
    auto const first = std::uint64_t(rank) * piece;
    for (std::uint64_t i = 0; i < count; ++i) pieces_.push_back({first + i * stride, words});
    MPI_Datatype comb = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(int(count), int(words), MPI_Aint(stride), MPI_DOUBLE, &comb);
    filetype = resized_to_row(at_displacement(comb, first), count * stride);
}

void Pattern::make_block3d(std::uint64_t bytes, int rank, int ranks) {
    auto const words = std::max(bytes / word_bytes, std::uint64_t{1});
    auto const edge = std::max(std::uint64_t(std::cbrt(double(words)) + 1e-9), std::uint64_t{1});
    std::array<std::uint64_t, 3> const local{std::max(words / (edge * edge), std::uint64_t{1}),
                                             edge, edge};
    std::array<int, 3> grid{}, sizes{}, distributions{}, arguments{};
    MPI_Dims_create(ranks, 3, grid.data());
    std::array<std::uint64_t, 3> global{}, begin{};
    int rest = rank;
    for (std::size_t i = 3; i-- > 0; rest /= grid[i]) {  // darray numbers its grid row by row
        global[i] = local[i] * std::uint64_t(grid[i]);
        begin[i] = local[i] * std::uint64_t(rest % grid[i]);
        sizes[i] = int(global[i]);
        distributions[i] = MPI_DISTRIBUTE_BLOCK;
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    for (std::uint64_t i = 0; i < local[0]; ++i)
        for (std::uint64_t j = 0; j < local[1]; ++j)
            pieces_.push_back(
                {(((begin[0] + i) * global[1] + begin[1] + j) * global[2] + begin[2]) * word_bytes,
                 local[2]});
    check(MPI_Type_create_darray(ranks, rank, 3, sizes.data(), distributions.data(),
                                 arguments.data(), grid.data(), MPI_ORDER_C, MPI_DOUBLE, &filetype),
          "MPI_Type_create_darray");
}

void Pattern::fill(double* buffer, std::uint64_t seed, std::uint64_t row) const {
    for (auto const& piece : pieces_)
        for (std::uint64_t i = 0; i < piece.words; ++i)
            *buffer++ = word_at(row * row_bytes + piece.offset + i * word_bytes, seed);
}

std::uint64_t Pattern::wrong_bytes(double const* buffer, std::uint64_t seed,
                                   std::uint64_t row) const {
    std::uint64_t wrong = 0;
    for (auto const& piece : pieces_)
        for (std::uint64_t i = 0; i < piece.words; ++i, ++buffer) {
            auto const expected = word_at(row * row_bytes + piece.offset + i * word_bytes, seed);
            if (!(*buffer == expected)) wrong += word_bytes;
        }
    return wrong;
}

std::uint64_t wrong_bytes_in_file(std::string const& path, std::uint64_t bytes, std::uint64_t seed,
                                  int rank, int ranks) {
    MPI_Barrier(MPI_COMM_WORLD);  // nobody is writing any more
    auto const words = bytes / word_bytes;
    auto offset = words * std::uint64_t(rank) / std::uint64_t(ranks) * word_bytes;
    auto const end = words * std::uint64_t(rank + 1) / std::uint64_t(ranks) * word_bytes;
    std::uint64_t wrong = 0;
    std::vector<double> buffer((std::size_t{1} << 20) / word_bytes);
    int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (offset < end) {
        auto const wanted = std::min<std::uint64_t>(end - offset, buffer.size() * word_bytes);
        auto const got = ::pread(file, buffer.data(), wanted, off_t(offset));
        auto const usable = got < 0 ? 0 : std::uint64_t(got) / word_bytes;
        if (usable == 0) break;
        for (std::uint64_t i = 0; i < usable; ++i)
            if (!(buffer[i] == word_at(offset + i * word_bytes, seed))) wrong += word_bytes;
        offset += usable * word_bytes;
    }
    wrong += end - offset;
    struct stat status{};
    bool const surplus = fstat(file, &status) == 0 && std::uint64_t(status.st_size) > bytes;
    if (rank == 0 && surplus) wrong += std::uint64_t(status.st_size) - bytes;
    if (file >= 0) ::close(file);
    return sum_over_ranks(wrong);
}

std::vector<std::string> spell_out(std::vector<std::string> const& names) {
    std::vector<std::string> result;
    for (auto const* name : {"contiguous", "strided", "block3d"})
        for (auto const& asked : names)
            if (asked == "all" || asked == name) {
                result.emplace_back(name);
                break;
            }
    return result;
}

}  // namespace sluice::bench
