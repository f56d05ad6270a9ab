// Datatypes of patterns, made as a program makes them, apart from the pieces that src/patterns
// works out: one block a rank, interleaved pieces, a block-distributed 3-D array, diagonal
// multi-partitioning (NAS BT-IO), blocks with guard cells (FLASH-IO), lists.
#include "bench/file/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

using patterns::PatternSpec;

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

PatternSpec spec_of(Run const& run, std::string const& name, std::uint64_t bytes) {
    PatternSpec spec;
    spec.name = name;
    spec.bytes = std::max(Bytes(bytes), Bytes{1});
    spec.piece_bytes = std::max(Bytes(run.options.piece), Bytes{1});
    spec.seed = run.options.pattern_seed;
    spec.published = run.options.published;
    spec.element_bytes = word_bytes;
    spec.decomposition_number = run.options.decomposition_number;
    return spec;
}

MPI_Datatype contiguous_tile(Run const& run, PatternSpec const&, Shape const& shape) {
    auto const bytes = shape.tile_bytes / std::uint64_t(run.ranks);
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(int(bytes / word_bytes), MPI_DOUBLE, &block);
    return resized(at_displacement(block, std::uint64_t(run.rank) * bytes), shape.tile_bytes);
}

MPI_Datatype strided_tile(Run const& run, PatternSpec const&, Shape const& shape) {
    auto const words = std::max(run.options.piece / word_bytes, std::uint64_t{1});
    auto const stride = words * word_bytes * std::uint64_t(run.ranks);
    MPI_Datatype comb = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(int(shape.tile_bytes / stride), int(words), MPI_Aint(stride),
                            MPI_DOUBLE, &comb);
    return resized(at_displacement(comb, std::uint64_t(run.rank) * words * word_bytes),
                   shape.tile_bytes);
}

std::vector<int> ints(std::vector<Bytes> const& values) { return {values.begin(), values.end()}; }

/// The grid is 2x1x1 with 2 ranks, 2x2x1 with 4.
MPI_Datatype block3d_tile(Run const& run, PatternSpec const& spec, Shape const&) {
    auto const blocks = patterns::blocks_of(spec, run.ranks);
    std::vector<int> const sizes = ints(blocks.array());
    std::vector<int> const distributions(sizes.size(), MPI_DISTRIBUTE_BLOCK);
    std::vector<int> const arguments(sizes.size(), MPI_DISTRIBUTE_DFLT_DARG);
    MPI_Datatype tile = MPI_DATATYPE_NULL;
    check(MPI_Type_create_darray(run.ranks, run.rank, int(sizes.size()), sizes.data(),
                                 distributions.data(), arguments.data(), blocks.grid.data(),
                                 MPI_ORDER_C, MPI_DOUBLE, &tile),
          "MPI_Type_create_darray");
    return tile;
}

MPI_Datatype lattice_tile(Run const& run, PatternSpec const& spec, Shape const&) {
    auto const blocks = patterns::blocks_of(spec, run.ranks);
    std::vector<int> const sizes = ints(blocks.array()), parts = ints(blocks.block),
                           starts = ints(blocks.begin_of(run.rank));
    MPI_Datatype site = MPI_DATATYPE_NULL, tile = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(int(std::uint64_t(blocks.element_bytes) / word_bytes), MPI_DOUBLE, &site);
    check(MPI_Type_create_subarray(int(sizes.size()), sizes.data(), parts.data(), starts.data(),
                                   MPI_ORDER_C, site, &tile),
          "MPI_Type_create_subarray");
    MPI_Type_free(&site);
    return tile;
}

/// A subarray for each cell, all in one structure.
MPI_Datatype btio_tile(Run const& run, PatternSpec const& spec, Shape const& shape) {
    constexpr int values = int(patterns::btio_words);
    int const p = int(std::lround(std::sqrt(double(run.ranks))));
    auto const grid = patterns::btio_grid(spec, run.ranks);
    int const edge = int(grid.edge), planes = int(grid.planes);
    auto const border = [&](int cell) { return int(std::int64_t{edge} * cell / p); };
    std::vector<MPI_Datatype> cells(std::size_t(p), MPI_DATATYPE_NULL);
    int const sizes[4] = {planes, edge, edge, values};
    for (int slab = 0; slab < p; ++slab) {
        int const at[3] = {slab, (run.rank / p - slab + p) % p, (run.rank % p + slab) % p};
        int starts[4] = {0, 0, 0, 0}, extents[4] = {0, 0, 0, values};
        for (int i = 0; i < 3; ++i) {
            starts[i] = border(at[i]);
            extents[i] = border(at[i] + 1) - starts[i];
        }
        extents[0] = std::min(extents[0], planes - starts[0]);
        if (extents[0] <= 0) continue;
        MPI_Type_create_subarray(4, sizes, extents, starts, MPI_ORDER_C, MPI_DOUBLE,
                                 &cells[std::size_t(slab)]);
    }
    std::vector<int> const once(cells.size(), 1);
    std::vector<MPI_Aint> const from_start(cells.size(), 0);
    MPI_Datatype all = MPI_DATATYPE_NULL;
    auto const none =
        std::find(cells.begin(), cells.end(), MPI_DATATYPE_NULL);  // Behind all slabs.
    cells.erase(none, cells.end());
    MPI_Type_create_struct(int(cells.size()), once.data(), from_start.data(), cells.data(), &all);
    for (auto& cell : cells) MPI_Type_free(&cell);
    return resized(all, shape.tile_bytes);
}

MPI_Datatype listed_tile(Run const&, PatternSpec const&, Shape const& shape) {
    return type_of_pieces(shape.pieces, shape.tile_bytes);
}

/// The variables, one call each, every rank a block of the file; in memory the cells lie apart,
/// because of the guard cells around each block of 8 x 8 x 8.
void use_flash_memory(Shape& shape, PatternSpec& spec) {
    auto const [blocks, variables] = patterns::flash_size(spec);
    shape.rows = int(variables);
    shape.memory.blocks = std::uint64_t(blocks);
    spec.name = "contiguous";
    spec.bytes = blocks * patterns::flash_block_bytes;
}

void use_request(Shape& shape, Request const& request) {
    Layout const& tile = *request.view.filetype;
    tile.for_each_run([&](sluice::Run const& pieces) {
        for (std::int64_t i = 0; i < pieces.count; ++i) {
            auto const offset = request.view.displacement + pieces.offset + i * pieces.stride;
            shape.pieces.push_back(
                {std::uint64_t(offset), std::uint64_t(pieces.length) / word_bytes});
        }
    });
    shape.tile_bytes = std::uint64_t(tile.tile_extent());
    shape.tiles = std::uint64_t(request.bytes / tile.tile_bytes());
}

using Maker = MPI_Datatype (*)(Run const&, PatternSpec const&, Shape const&);
std::map<std::string, Maker> const& makers() {
    static std::map<std::string, Maker> const all{
        {"contiguous", contiguous_tile}, {"strided", strided_tile},
        {"block3d", block3d_tile},       {"btio", btio_tile},
        {"lattice4d", lattice_tile},     {"lattice5d", lattice_tile},
        {"irregular", listed_tile},      {"random", listed_tile},
        {"e3sm", listed_tile},           {"e3sm-f", listed_tile},
        {"e3sm-g", listed_tile},         {"e3sm-i", listed_tile},
        {"holes", listed_tile},          {"flash", contiguous_tile}};
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
    static std::vector<std::string> const names{
        "contiguous", "strided", "block3d", "lattice4d", "lattice5d", "btio",   "irregular",
        "random",     "e3sm",    "holes",   "flash",     "e3sm-f",    "e3sm-g", "e3sm-i"};
    return names;
}

std::string why_not(Run const& run, std::string const& name) {
    auto spec = spec_of(run, name, run.bytes());
    std::string error;
    if (name == "e3sm") spec.decomposition = decomposition_of(run, error);
    return error.empty() ? patterns::why_not(spec, run.ranks) : error;
}

Shape make_shape(Run const& run, std::string const& name, std::uint64_t bytes) {
    Shape shape;
    auto spec = spec_of(run, name, bytes);
    std::string ignored;
    if (name == "e3sm") spec.decomposition = decomposition_of(run, ignored);
    if (name == "flash") use_flash_memory(shape, spec);
    if (name == "holes") shape.step = std::uint64_t(patterns::words_to_hole);
    use_request(shape, patterns::make_request(spec, run.rank, run.ranks, Direction::write));
    shape.tile = makers().at(name)(run, spec, shape);
    return shape;
}

}  // namespace sluice::bench
