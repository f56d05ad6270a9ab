// Shapes that are worked out. See pattern.hpp for what they are.
#include "bench/patterns/shapes.hpp"

#include "bench/patterns/shuffle.hpp"

#include <cmath>
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

std::array<Rank, 3> grid_of(Rank ranks) noexcept {
    auto const largest_divisor = [](Rank number, double limit) {
        auto divisor = static_cast<Rank>(limit + 1e-9);
        while (number % divisor != 0) --divisor;
        return divisor;
    };
    std::array<Rank, 3> best{ranks, 1, 1};
    for (auto c = static_cast<Rank>(std::cbrt(double(ranks)) + 1e-9); c >= 1; --c) {
        if (ranks % c != 0) continue;
        Rank const rest = ranks / c;
        Rank const b = largest_divisor(rest, std::sqrt(double(rest)));
        std::array<Rank, 3> const grid{ranks / c / b, b, c};
        auto const sum = [](std::array<Rank, 3> const& g) { return g[0] + g[1] + g[2]; };
        if (b >= c && sum(grid) < sum(best)) best = grid;
    }
    return best;
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

/// As many planes as a cube of 4-byte cells has (161 for 16 MiB, so that pieces are not whole
/// pages).
std::array<Bytes, 3> block_of(Bytes bytes) noexcept {
    Bytes const words = words_in(bytes);
    Bytes const planes = std::min(cube_root(2 * static_cast<double>(words)), words);
    Bytes const in_plane = words / planes;
    auto const edge =
        at_least_one(static_cast<Bytes>(std::sqrt(static_cast<double>(in_plane)) + 1e-9));
    return {planes, edge, edge};
}

Shape block3d(Place const& place) {
    auto const local = block_of(place.spec.bytes);
    auto const grid = grid_of(place.ranks);
    std::array<Bytes, 3> global{}, begin{};
    Rank rest = place.rank;
    for (std::size_t i = 3; i-- > 0; rest /= grid[i]) {  // Row by row, as darray counts.
        global[i] = local[i] * grid[i];
        begin[i] = local[i] * (rest % grid[i]);
    }
    Extents extents;
    for (Bytes i = 0; i < local[0]; ++i) {
        Offset const first = ((begin[0] + i) * global[1] + begin[1]) * global[2] + begin[2];
        extents.add({first * word_bytes, local[2] * word_bytes, global[2] * word_bytes, local[1]});
    }
    Shape shape;
    shape.pieces = std::move(extents).take();
    shape.extent = global[0] * global[1] * global[2] * word_bytes;
    return shape;
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
