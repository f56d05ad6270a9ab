// Shapes that are worked out. See pattern.hpp for what they are.
#include "bench/patterns/shapes.hpp"

#include "bench/patterns/shuffle.hpp"

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace sluice::patterns {
namespace {

Bytes at_least_one(Bytes value) noexcept { return std::max(value, Bytes{1}); }
Bytes words_in(Bytes bytes) noexcept { return at_least_one(bytes / word_bytes); }
Bytes cube_root(double value) noexcept {
    return at_least_one(static_cast<Bytes>(std::cbrt(value) + 1e-9));
}
Bytes ceiling(Bytes value, Bytes unit) noexcept { return (value + unit - 1) / unit; }

Shape one_run(Run const& run, Bytes extent) {
    Shape shape;
    shape.pieces = std::vector<Run>{run};
    shape.extent = extent;
    return shape;
}

}  // namespace

Rank square_root(Rank ranks) noexcept {
    auto const p = static_cast<Rank>(std::lround(std::sqrt(static_cast<double>(ranks))));
    return p * p == ranks ? p : 0;
}

std::vector<Rank> grid_of(Rank ranks, int dimensions) {
    if (dimensions == 1) return {ranks};
    std::vector<Rank> best;
    for (auto last = static_cast<Rank>(std::pow(ranks, 1.0 / dimensions) + 1e-9); last >= 1;
         --last) {
        if (ranks % last != 0) continue;
        auto grid = grid_of(ranks / last, dimensions - 1);
        bool const descends = grid.back() >= last;
        grid.push_back(last);
        auto const sum = [](auto const& g) { return std::accumulate(g.begin(), g.end(), Rank{0}); };
        if (descends && (best.empty() || sum(grid) < sum(best))) best = std::move(grid);
    }
    return best;
}

std::vector<Bytes> BlockArray::array() const {
    auto all = block;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] *= grid[i];
    return all;
}

std::vector<Bytes> BlockArray::begin_of(Rank rank) const {
    auto begin = block;
    for (std::size_t i = begin.size(); i-- > 0; rank /= grid[i]) begin[i] *= rank % grid[i];
    return begin;
}

Shape contiguous(Place const& place) {
    Bytes const block = words_in(place.spec.bytes) * word_bytes;
    return one_run({place.rank * block, block, 0, 1}, place.ranks * block);
}

Shape strided(Place const& place) {
    Bytes const piece = words_in(place.spec.piece_bytes) * word_bytes;
    Bytes const stride = piece * place.ranks, count = at_least_one(place.spec.bytes / piece);
    return one_run({place.rank * piece, piece, stride, count}, count * stride);
}

namespace {

/// As many planes as a cube of 4-byte cells has (161 for 16 MiB, so that pieces are not whole
/// pages).
BlockArray array_of_words(Bytes bytes, Rank ranks) {
    Bytes const words = words_in(bytes);
    Bytes const planes = std::min(cube_root(2 * static_cast<double>(words)), words);
    Bytes const in_plane = words / planes;
    auto const edge =
        at_least_one(static_cast<Bytes>(std::sqrt(static_cast<double>(in_plane)) + 1e-9));
    return {grid_of(ranks, 3), {planes, edge, edge}, word_bytes};
}

/// Three edges are alike, time takes what is left.
BlockArray lattice(Bytes bytes, Rank ranks, Bytes site_bytes) {
    Bytes const sites = at_least_one(bytes / site_bytes);
    auto const edge = static_cast<Bytes>(std::pow(static_cast<double>(sites), 0.25) + 1e-9);
    return {grid_of(ranks, 4), {sites / (edge * edge * edge), edge, edge, edge}, site_bytes};
}

/// Four matrices of 3 x 3 complex numbers, and a spinor of 4 x 3.
constexpr Bytes gauge_bytes = 4 * 9 * 2 * word_bytes, spinor_bytes = 12 * 2 * word_bytes;
constexpr Bytes fifth_edge = 8;

}  // namespace

BlockArray blocks_of(PatternSpec const& spec, Rank ranks) {
    if (spec.name == "block3d") return array_of_words(spec.bytes, ranks);
    if (spec.name == "lattice4d") return lattice(spec.bytes, ranks, gauge_bytes);
    auto all = lattice(spec.bytes / fifth_edge, ranks, spinor_bytes);
    all.grid.insert(all.grid.begin(), 1), all.block.insert(all.block.begin(), fifth_edge);
    return all;
}

/// Lines that follow each other in the last two dimensions are one run.
Shape blocks(Place const& place) {
    auto const all = blocks_of(place.spec, place.ranks);
    auto const& block = all.block;
    auto const array = all.array(), begin = all.begin_of(place.rank);
    std::size_t const last = block.size() - 1;
    Bytes const planes =
        std::accumulate(block.begin(), block.end() - 2, Bytes{1}, std::multiplies<>());
    Extents extents;
    for (Bytes plane = 0; plane < planes; ++plane) {
        Bytes line = begin[last - 1], lines = array[last - 1];  // In the array before it, and all.
        Bytes rest = plane;
        for (std::size_t i = last - 1; i-- > 0; rest /= block[i], lines *= array[i])
            line += (begin[i] + rest % block[i]) * lines;
        Offset const first = line * array[last] + begin[last];
        extents.add({first * all.element_bytes, block[last] * all.element_bytes,
                     array[last] * all.element_bytes, block[last - 1]});
    }
    Shape shape;
    shape.pieces = std::move(extents).take();
    shape.element_bytes = all.element_bytes;
    shape.extent =
        std::accumulate(array.begin(), array.end(), all.element_bytes, std::multiplies<>());
    return shape;
}

Shape holes(Place const& place) {
    constexpr Bytes step = words_to_hole * word_bytes;
    Bytes const words = words_in(place.spec.bytes), part = words * step;
    return one_run({place.rank * part + step - word_bytes, word_bytes, step, words},
                   place.ranks * part);
}

BtioGrid btio_grid(PatternSpec const& spec, Rank ranks) noexcept {
    double const points = static_cast<double>(spec.bytes) * ranks / (btio_words * word_bytes);
    if (!spec.published) {
        Bytes const edge = std::max(cube_root(points), Bytes{square_root(ranks)});
        return {edge, edge};
    }
    constexpr Bytes edge = btio_edge_published;
    auto const planes = static_cast<Bytes>(points / static_cast<double>(edge * edge));
    return {std::clamp(planes, Bytes{1}, edge), edge};
}

/// One cell in each of the p slabs, each a step further along the diagonal.
Shape btio(Place const& place) {
    constexpr Bytes point = btio_words * word_bytes;
    Bytes const p = square_root(place.ranks);
    BtioGrid const grid = btio_grid(place.spec, place.ranks);
    Bytes const planes = grid.planes, edge = grid.edge;
    auto const border = [&](Bytes cell) { return edge * cell / p; };
    Extents extents;
    for (Bytes slab = 0; slab < p; ++slab) {
        Bytes const row = (place.rank / p - slab + p) % p, column = (place.rank % p + slab) % p;
        Bytes const y = border(row), x = border(column);
        Bytes const lines = border(row + 1) - y, length = border(column + 1) - x;
        for (Bytes z = border(slab); z < std::min(border(slab + 1), planes); ++z) {
            Offset const first = (z * edge + y) * edge + x;
            extents.add({first * point, length * point, edge * point, lines});
        }
    }
    Shape shape;
    shape.pieces = std::move(extents).take();
    shape.extent = planes * edge * edge * point;
    return shape;
}

/// Rows of as many pieces as there are ranks. Each piece but the last of a row ends up to half a
/// piece before or behind its even share, and each row deals its pieces to the ranks in another
/// order: place = rank * factor + shift, modulo ranks. So a rank finds its own pieces alone.
Shape irregular(Place const& place) {
    Rank const ranks = place.ranks;
    Bytes const share = std::max(words_in(place.spec.piece_bytes), Bytes{2});
    Bytes const row_words = share * ranks;
    Bytes const rows = at_least_one(place.spec.bytes / (share * word_bytes));
    auto const draw = [&](std::int64_t number, std::int64_t below) {
        return static_cast<std::int64_t>(scattered(place.spec.seed, number) %
                                         static_cast<std::uint64_t>(below));
    };
    auto const border = [&](std::int64_t row, std::int64_t at) {
        std::int64_t const number =
            row * ranks + at;  // Even numbers draw borders, odd ones orders.
        Bytes const moved = at == 0 || at == ranks ? 0 : draw(2 * number, share) - share / 2;
        return row * row_words + at * share + moved;
    };
    Extents extents;
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t factor = 1 + draw(4 * row + 1, ranks);
        while (std::gcd(factor, std::int64_t{ranks}) != 1) ++factor;
        std::int64_t const at = (factor * place.rank + draw(4 * row + 3, ranks)) % ranks;
        Offset const begin = border(row, at), end = border(row, at + 1);
        extents.add({begin * word_bytes, (end - begin) * word_bytes, 0, 1});
    }
    Shape shape;
    shape.pieces = std::move(extents).take();
    shape.extent = rows * row_words * word_bytes;
    return shape;
}

/// Tickets in the order of ranks, as many to each, are drawn from an urn: a rank finds its own
/// blocks alone.
Shape random(Place const& place) {
    Bytes const block = words_in(place.spec.piece_bytes) * word_bytes;
    auto const each = static_cast<std::uint64_t>(at_least_one(place.spec.bytes / block));
    auto const count = each * static_cast<std::uint64_t>(place.ranks);
    Shuffle const draw(place.spec.seed, count);
    std::vector<std::uint64_t> own(each);
    for (std::uint64_t i = 0; i < each; ++i)
        own[i] = draw(static_cast<std::uint64_t>(place.rank) * each + i);
    std::sort(own.begin(), own.end());
    Extents extents;
    for (auto const number : own) extents.add({static_cast<Offset>(number) * block, block, 0, 1});
    Shape shape;
    shape.pieces = std::move(extents).take();
    shape.extent = static_cast<Offset>(count) * block;
    return shape;
}

FlashSize flash_size(PatternSpec const& spec) noexcept {
    if (!spec.published)
        return {at_least_one(spec.bytes / (flash_variables * flash_block_bytes)), flash_variables};
    constexpr Bytes blocks = flash_blocks_published;
    return {blocks,
            std::clamp(spec.bytes / (blocks * flash_block_bytes), Bytes{1}, flash_variables)};
}

Shape flash(Place const& place) {
    auto const [blocks, variables] = flash_size(place.spec);
    Bytes const part = blocks * flash_block_bytes, variable = part * place.ranks;
    return one_run({place.rank * part, part, variable, variables}, variable * variables);
}

Shape sparse(Place const& place) {
    constexpr Bytes each = 8;  // One rank of so many holds much; a part of so many is far.
    constexpr Bytes pieces_to_hole = 64;  // From piece to piece, of one piece.
    Bytes const piece = words_in(place.spec.piece_bytes) * word_bytes;
    Bytes const holders = ceiling(place.ranks, each), all = place.spec.bytes * place.ranks;
    Bytes const near = at_least_one(all / each * (each - 1) / (holders * piece));
    Bytes const far = at_least_one(place.spec.bytes / each / piece);
    Bytes const dense = near * holders * piece, step = piece * pieces_to_hole;
    Extents extents;
    if (place.rank % each == 0)
        extents.add({place.rank / each * piece, piece, holders * piece, near});
    extents.add({dense + (place.rank + 1) * step, piece, place.ranks * step, far});
    Shape shape;
    shape.pieces = std::move(extents).take();
    shape.extent = dense + (far * place.ranks + 1) * step;
    return shape;
}

namespace {

/// Pieces of several parts of one copy, put together in the file's order.
Sections joined(std::vector<Sections> const& parts, std::size_t begin, std::size_t end) {
    std::vector<Run> pieces;
    for (std::size_t part = begin; part < end; ++part) {
        parts[part].for_each_run([&](Run const& run) {
            for (std::int64_t i = 0; i < run.count; ++i)
                pieces.push_back({run.offset + i * run.stride, run.length, 0, 1});
        });
    }
    std::sort(pieces.begin(), pieces.end(),
              [](Run const& a, Run const& b) { return a.offset < b.offset; });
    return pieces;
}

}  // namespace

/// The decomposition is repeated until it has a part for each rank. Where it then has more, some
/// ranks hold two neighbouring ones. Parts of all copies are numbered through.
Shape e3sm(Place const& place) {
    auto const& variable = place.spec.decomposition.variable(place.spec.decomposition_number);
    auto const parts = static_cast<std::int64_t>(variable.parts.size());
    std::int64_t const ranks = place.ranks, copies = ceiling(ranks, parts), all = copies * parts;
    auto const first_of = [&](std::int64_t rank) { return ceiling(rank * all, ranks); };
    std::int64_t const begin = first_of(place.rank), end = first_of(place.rank + std::int64_t{1});
    std::int64_t const first_copy = begin / parts;
    Shape shape;
    shape.extent = copies * variable.bytes;
    shape.displacement = first_copy * variable.bytes;
    shape.tiles = at_least_one(ceiling(place.spec.bytes * ranks, shape.extent));
    auto const part_of = [&](std::int64_t number, std::int64_t copy) {
        return static_cast<std::size_t>(std::clamp(number - copy * parts, std::int64_t{0}, parts));
    };
    Extents extents;
    for (std::int64_t copy = first_copy; copy * parts < end; ++copy) {
        std::size_t const from = part_of(begin, copy), to = part_of(end, copy);
        Offset const shift = (copy - first_copy) * variable.bytes;
        if (to - from == 1)
            extents.add_repeated(variable.parts[from], shift, 1, 0);
        else
            extents.add_repeated(joined(variable.parts, from, to), shift, 1, 0);
    }
    shape.pieces = std::move(extents).take();
    return shape;
}

}  // namespace sluice::patterns
