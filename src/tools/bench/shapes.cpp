// Shapes that are worked out: one block a rank, interleaved pieces, a block-distributed 3-D array,
// diagonal multi-partitioning (NAS BT-IO), blocks with guard cells (FLASH-IO), a random tiling.
#include "shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "report.hpp"

namespace sluice::bench {
namespace {

/// A type whose extent is the whole tile, so that consecutive calls go to consecutive rows.
MPI_Datatype resized(MPI_Datatype inner, std::uint64_t extent) {
    MPI_Datatype tile = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(inner, 0, MPI_Aint(extent), &tile);
    MPI_Type_free(&inner);
    return tile;
}

MPI_Datatype at_displacement(MPI_Datatype inner, std::uint64_t offset) {
    int const one = 1;
    auto const displacement = MPI_Aint(offset);
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(1, &one, &displacement, inner, &moved);
    MPI_Type_free(&inner);
    return moved;
}

std::uint64_t at_least_one(std::uint64_t value) { return std::max(value, std::uint64_t{1}); }

std::uint64_t cube_root(double value) {
    return at_least_one(std::uint64_t(std::cbrt(value) + 1e-9));
}

Shape one_block(Run const& run, std::uint64_t words) {
    Shape shape;
    auto const offset = std::uint64_t(run.rank) * words * word_bytes;
    shape.tile_bytes = words * word_bytes * std::uint64_t(run.ranks);
    shape.add(offset, words);
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(int(words), MPI_DOUBLE, &block);
    shape.tile = resized(at_displacement(block, offset), shape.tile_bytes);
    return shape;
}

Shape make_contiguous(Run const& run, std::uint64_t bytes) {
    return one_block(run, at_least_one(bytes / word_bytes));
}

Shape make_strided(Run const& run, std::uint64_t bytes) {
    Shape shape;
    auto const words = at_least_one(run.options.piece / word_bytes);
    auto const piece = words * word_bytes;
    auto const stride = piece * std::uint64_t(run.ranks);
    auto const count = at_least_one(bytes / piece);
    auto const first = std::uint64_t(run.rank) * piece;
    shape.tile_bytes = count * stride;
    for (std::uint64_t i = 0; i < count; ++i) shape.add(first + i * stride, words);
    MPI_Datatype comb = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(int(count), int(words), MPI_Aint(stride), MPI_DOUBLE, &comb);
    shape.tile = resized(at_displacement(comb, first), shape.tile_bytes);
    return shape;
}

/// As many planes a rank as a cube of 4-byte cells has (161 for 16 MiB, so that pieces are not
/// whole pages); the grid is 2x1x1 with 2 ranks, 2x2x1 with 4.
Shape make_block3d(Run const& run, std::uint64_t bytes) {
    Shape shape;
    auto const words = at_least_one(bytes / word_bytes);
    auto const planes = std::min(cube_root(2 * double(words)), words);
    auto const plane = words / planes;
    auto const edge = at_least_one(std::uint64_t(std::sqrt(double(plane)) + 1e-9));
    std::array<std::uint64_t, 3> const local{planes, edge, edge};
    std::array<int, 3> grid{}, sizes{}, distributions{}, arguments{};
    MPI_Dims_create(run.ranks, 3, grid.data());
    std::array<std::uint64_t, 3> global{}, begin{};
    int rest = run.rank;
    for (std::size_t i = 3; i-- > 0; rest /= grid[i]) {  // darray numbers its grid row by row
        global[i] = local[i] * std::uint64_t(grid[i]);
        begin[i] = local[i] * std::uint64_t(rest % grid[i]);
        sizes[i] = int(global[i]);
        distributions[i] = MPI_DISTRIBUTE_BLOCK;
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    for (std::uint64_t i = 0; i < local[0]; ++i)
        for (std::uint64_t j = 0; j < local[1]; ++j)
            shape.add((((begin[0] + i) * global[1] + begin[1] + j) * global[2] + begin[2]) *
                          word_bytes,
                      local[2]);
    shape.tile_bytes = global[0] * global[1] * global[2] * word_bytes;
    check(MPI_Type_create_darray(run.ranks, run.rank, 3, sizes.data(), distributions.data(),
                                 arguments.data(), grid.data(), MPI_ORDER_C, MPI_DOUBLE,
                                 &shape.tile),
          "MPI_Type_create_darray");
    return shape;
}

int square_root(int ranks) { return int(std::lround(std::sqrt(double(ranks)))); }

/// NAS BT-IO: the cube is cut into p x p x p cells for p * p ranks. A rank has one cell in each of
/// the p slabs, each a step further along the diagonal. 5 doubles a point.
Shape make_btio(Run const& run, std::uint64_t bytes) {
    constexpr std::uint64_t values = 5;
    Shape shape;
    int const p = square_root(run.ranks);
    auto const parts = std::uint64_t(p);
    double const points = double(bytes) * run.ranks / double(values * word_bytes);
    auto const edge = std::max(cube_root(points), parts);
    shape.tile_bytes = edge * edge * edge * values * word_bytes;
    auto const border = [&](std::uint64_t cell) { return edge * cell / parts; };
    std::vector<MPI_Datatype> cells(parts);
    int const sizes[4] = {int(edge), int(edge), int(edge), int(values)};
    for (int slab = 0; slab < p; ++slab) {
        std::uint64_t const at[3] = {std::uint64_t(slab),
                                     std::uint64_t((run.rank / p - slab + p) % p),
                                     std::uint64_t((run.rank % p + slab) % p)};
        int starts[4] = {0, 0, 0, 0}, extents[4] = {0, 0, 0, int(values)};
        for (int i = 0; i < 3; ++i) {
            starts[i] = int(border(at[i]));
            extents[i] = int(border(at[i] + 1)) - starts[i];
        }
        for (auto z = border(at[0]); z < border(at[0] + 1); ++z)
            for (auto y = border(at[1]); y < border(at[1] + 1); ++y)
                shape.add(((z * edge + y) * edge + border(at[2])) * values * word_bytes,
                          std::uint64_t(extents[2]) * values);
        MPI_Type_create_subarray(4, sizes, extents, starts, MPI_ORDER_C, MPI_DOUBLE,
                                 &cells[std::size_t(slab)]);
    }
    std::vector<int> const once(parts, 1);
    std::vector<MPI_Aint> const from_start(parts, 0);
    MPI_Datatype all = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(p, once.data(), from_start.data(), cells.data(), &all);
    for (auto& cell : cells) MPI_Type_free(&cell);
    shape.tile = resized(all, shape.tile_bytes);
    return shape;
}

/// FLASH-IO: 24 variables, one call each, every rank a block of the file; in memory the cells lie
/// apart, because of the guard cells around each block of 8 x 8 x 8.
Shape make_flash(Run const& run, std::uint64_t bytes) {
    constexpr std::uint64_t variables = 24,
                            block_words = Cells::inner * Cells::inner * Cells::inner;
    auto const blocks = at_least_one(bytes / (variables * block_words * word_bytes));
    auto shape = one_block(run, blocks * block_words);
    shape.rows = int(variables);
    shape.memory.blocks = blocks;
    return shape;
}

/// The file is cut into pieces of 1 to 16 words, each given to some rank: the same numbers on all
/// ranks. The first pieces go to one rank each, so that none is left with nothing.
Shape make_irregular(Run const& run, std::uint64_t bytes) {
    Shape shape;
    auto const ranks = std::uint64_t(run.ranks);
    auto const total = std::max(bytes / word_bytes, std::uint64_t{16}) * ranks;
    std::mt19937_64 random(run.options.pattern_seed);
    std::uint64_t at = 0;
    for (std::uint64_t piece = 0; at < total; ++piece) {
        auto const draw = random();
        auto const words = std::min(1 + draw % 16, total - at);
        auto const owner = piece < ranks ? piece : (draw >> 32) % ranks;
        if (owner == std::uint64_t(run.rank)) shape.add(at * word_bytes, words);
        at += words;
    }
    shape.tile_bytes = total * word_bytes;
    shape.tile = type_of_pieces(shape.pieces, shape.tile_bytes);
    return shape;
}

using Maker = Shape (*)(Run const&, std::uint64_t);
std::map<std::string, Maker> const& makers() {
    static std::map<std::string, Maker> const all{{"contiguous", make_contiguous},
                                                  {"strided", make_strided},
                                                  {"block3d", make_block3d},
                                                  {"btio", make_btio},
                                                  {"irregular", make_irregular},
                                                  {"e3sm", make_decomposition},
                                                  {"flash", make_flash}};
    return all;
}

}  // namespace

MPI_Datatype type_of_pieces(std::vector<Piece> const& pieces, std::uint64_t extent) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;
    lengths.reserve(pieces.size()), offsets.reserve(pieces.size());
    for (auto const& piece : pieces) {
        lengths.push_back(int(piece.words));
        offsets.push_back(MPI_Aint(piece.offset));
    }
    MPI_Datatype list = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hindexed(int(pieces.size()), lengths.data(), offsets.data(), MPI_DOUBLE,
                                   &list),
          "MPI_Type_create_hindexed");
    return resized(list, extent);
}

std::vector<std::string> const& pattern_names() {
    static std::vector<std::string> const names{"contiguous", "strided", "block3d", "btio",
                                                "irregular",  "e3sm",    "flash"};
    return names;
}

std::string why_not(Run const& run, std::string const& name) {
    int const p = square_root(run.ranks);
    if (name == "btio" && p * p != run.ranks)
        return text_of("needs a square number of ranks, not %d", run.ranks);
    return name == "e3sm" ? why_not_decomposition(run) : std::string();
}

Shape make_shape(Run const& run, std::string const& name, std::uint64_t bytes) {
    return makers().at(name)(run, bytes);
}

}  // namespace sluice::bench
