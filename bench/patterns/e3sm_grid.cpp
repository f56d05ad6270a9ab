// The published counts, and how runs are dealt. See e3sm_grid.hpp.
#include "bench/patterns/e3sm_grid.hpp"

#include "bench/patterns/shuffle.hpp"

namespace sluice::patterns {
namespace {

/// Columns of the atmosphere, level by level. 323 variables have one level, 63 have 72; one more
/// has longer runs, which is not worth a map of its own.
constexpr GridArrays atmosphere[] = {{777'602, 292'513, 1, 323 + 63 * 72 + 1}};

/// Cells, edges and vertices of the ocean; the 80 or 81 levels of a point lie together. Variables
/// without levels come last.
constexpr GridArrays ocean[] = {
    {3'693'225, 3'693'225, 80, 25}, {11'135'652, 11'135'652, 80, 2}, {7'441'216, 7'441'216, 80, 2},
    {3'693'225, 3'693'225, 81, 4},  {3'693'225, 3'692'863, 1, 6},    {11'135'652, 9'804'239, 1, 2},
};

/// A grid of 360 x 720, level by level: 465 variables have one level, 75 have 15, four have 10, and
/// two have 9 and 17. A rank of the production run made 33,120 to 41,400 requests: 22 an array.
constexpr GridArrays land[] = {{360 * 720, 22 * 1'344, 1, 465 + 75 * 15 + 4 * 10 + 9 + 17}};

constexpr GridCase cases[] = {
    {"e3sm-f", 21'600, 4, atmosphere},
    {"e3sm-g", 9'600, 8, ocean},
    {"e3sm-i", 1'344, 4, land},
};

Bytes array_bytes(GridArrays const& arrays, Bytes element_bytes) noexcept {
    return arrays.points * arrays.elements * element_bytes;
}

/// The runs of one array that a rank drew, those below `runs`, in the file's order.
Sections drawn_runs(Place const& place, GridArrays const& arrays, std::int64_t runs,
                    Bytes point_bytes) {
    Shuffle const draw(place.spec.seed, static_cast<std::uint64_t>(runs));
    std::int64_t const first = runs * place.rank / place.ranks;
    std::int64_t const end = runs * (place.rank + std::int64_t{1}) / place.ranks;
    std::vector<std::int64_t> own;
    for (std::int64_t ticket = first; ticket < end; ++ticket)
        own.push_back(static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(ticket))));
    std::sort(own.begin(), own.end());
    Extents extents;
    for (std::int64_t const run : own) {
        std::int64_t const begin = begin_of_run(arrays, run), next = begin_of_run(arrays, run + 1);
        extents.add({begin * point_bytes, (next - begin) * point_bytes, 0, 1});
    }
    return std::move(extents).take();
}

/// So many of the first runs of an array as `bytes` hold, at least one for each rank.
std::int64_t first_runs(GridArrays const& arrays, Bytes bytes, Bytes whole, Rank ranks) noexcept {
    double const part = static_cast<double>(bytes) / static_cast<double>(whole);
    auto const runs = static_cast<std::int64_t>(part * static_cast<double>(arrays.requests));
    return std::clamp(runs, std::int64_t{ranks}, arrays.requests);
}

}  // namespace

Bytes GridCase::bytes() const noexcept {
    Bytes all = 0;
    for (GridArrays const& each : arrays) all += each.count * array_bytes(each, element_bytes);
    return all;
}

std::int64_t GridCase::requests() const noexcept {
    std::int64_t all = 0;
    for (GridArrays const& each : arrays) all += each.count * each.requests;
    return all;
}

GridCase const* grid_case(std::string const& name) noexcept {
    auto const* const found =
        std::find_if(std::begin(cases), std::end(cases),
                     [&](GridCase const& known) { return name == known.name; });
    return found == std::end(cases) ? nullptr : found;
}

std::int64_t begin_of_run(GridArrays const& arrays, std::int64_t number) noexcept {
    return arrays.points * number / arrays.requests;
}

Shape e3sm_grid(Place const& place) {
    GridCase const& grid = *grid_case(place.spec.name);
    Shape shape;
    shape.element_bytes =
        place.spec.element_bytes > 0 ? place.spec.element_bytes : grid.element_bytes;
    Bytes left = place.spec.bytes * place.ranks;
    Extents extents;
    for (GridArrays const& arrays : grid.arrays) {
        Bytes const point = arrays.elements * shape.element_bytes, whole = arrays.points * point;
        std::int64_t const count = std::min(left / whole, arrays.count);
        if (count == 0 && shape.extent > 0) break;
        if (count == 0) {
            std::int64_t const runs = first_runs(arrays, left, whole, place.ranks);
            shape.pieces = drawn_runs(place, arrays, runs, point);
            shape.extent = begin_of_run(arrays, runs) * point;
            return shape;
        }
        Sections const one = drawn_runs(place, arrays, arrays.requests, point);
        bool const is_last = count < arrays.count || &arrays == &grid.arrays.back();
        if (&arrays == &grid.arrays.front() && is_last) {
            shape.pieces = one, shape.extent = whole, shape.tiles = count;
            return shape;
        }
        extents.add_repeated(one, shape.extent, count, whole);
        shape.extent += count * whole, left -= count * whole;
    }
    shape.pieces = std::move(extents).take();
    return shape;
}

}  // namespace sluice::patterns
