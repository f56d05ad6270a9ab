// How the numbers of a datatype are looked through. See type_check.hpp.
#include "tools/recorded/type_check.hpp"

#include <algorithm>

namespace sluice::record {
namespace {

/// How many numbers a constructor takes (MPI-4.1, 5.1.13): of a damaged line there may be fewer.
struct Wanted {
    std::size_t ints = 0, places = 0, counts = 0, parts = 1;
};

Wanted wanted_small(TypeTree const& tree) {
    auto const first = [&](std::size_t i) {
        return i < tree.ints.size() ? static_cast<std::size_t>(std::max(tree.ints[i], 0)) : 0;
    };
    switch (tree.maker) {
    case Maker::element:
        return {.parts = 0};
    case Maker::dup:
        return {};
    case Maker::contiguous:
        return {.ints = 1};
    case Maker::vector:
        return {.ints = 3};
    case Maker::hvector:
        return {.ints = 2, .places = 1};
    case Maker::indexed:
        return {.ints = 1 + 2 * first(0)};
    case Maker::hindexed:
    case Maker::structure:
        return {.ints = 1 + first(0), .places = first(0)};
    case Maker::indexed_block:
        return {.ints = 2 + first(0)};
    case Maker::hindexed_block:
        return {.ints = 2, .places = first(0)};
    case Maker::subarray:
        return {.ints = 2 + 3 * first(0)};
    case Maker::darray:
        return {.ints = 4 + 4 * first(2)};
    case Maker::resized:
        return {.places = 2};
    }
    return {};
}

/// The same of constructors with large counts.
Wanted wanted_large(TypeTree const& tree) {
    auto const first = static_cast<std::size_t>(std::max<std::int64_t>(tree.counts[0], 0));
    auto const dimensions = [&](std::size_t i) {
        return i < tree.ints.size() ? static_cast<std::size_t>(std::max(tree.ints[i], 0)) : 0;
    };
    switch (tree.maker) {
    case Maker::element:
    case Maker::dup:
        return wanted_small(tree);
    case Maker::contiguous:
        return {.counts = 1};
    case Maker::vector:
    case Maker::hvector:
        return {.counts = 3};
    case Maker::indexed:
    case Maker::hindexed:
    case Maker::structure:
        return {.counts = 1 + 2 * first};
    case Maker::indexed_block:
    case Maker::hindexed_block:
        return {.counts = 2 + first};
    case Maker::subarray:
        return {.ints = 2, .counts = 3 * dimensions(0)};
    case Maker::darray:
        return {.ints = 4 + 3 * dimensions(2), .counts = dimensions(2)};
    case Maker::resized:
        return {.counts = 2};
    }
    return {};
}

/// Whether the blocks of an array lie in it, as the MPI had checked.
bool is_subarray(TypeTree const& tree) {
    Arguments arguments(tree);
    std::int64_t const n = arguments.integer();
    if (n < 1) return false;
    auto const sizes = arguments.counts(n), subsizes = arguments.counts(n);
    auto const starts = arguments.counts(n);
    for (std::int64_t d = 0; d < n; ++d) {
        bool const inside = sizes[d] > 0 && subsizes[d] >= 0 && subsizes[d] <= sizes[d] &&
                            starts[d] >= 0 && starts[d] <= sizes[d] - subsizes[d];
        if (!inside) return false;
    }
    return true;
}

/// Whether an array can be dealt out so, and the rank is one of those that get a part.
bool is_darray(TypeTree const& tree) {
    Arguments arguments(tree);
    arguments.integer();  // The number of processes.
    std::int64_t rank = arguments.integer();
    std::int64_t const n = arguments.integer();
    if (n < 1) return false;
    auto const sizes = arguments.counts(n);
    auto const distributions = arguments.integers(n), given = arguments.integers(n);
    auto const grid = arguments.integers(n);
    if (rank < 0) return false;
    for (std::int64_t d = 0; d < n; ++d) {
        bool const has_distribution =
            distributions[d] >= 0 &&
            distributions[d] <= static_cast<std::int64_t>(Distribution::cyclic);
        bool const has_argument = given[d] == default_argument || given[d] > 0;
        if (sizes[d] <= 0 || grid[d] <= 0 || !has_distribution || !has_argument) return false;
        rank /= grid[d];
    }
    return rank == 0;
}

/// Whether each member of a structure has a datatype.
bool is_structure(TypeTree const& tree) {
    std::int64_t const members = Arguments(tree).count();
    bool const has_parts = members == 0 || !tree.parts.empty();
    return members >= 0 && has_parts && (tree.which.empty() || std::ssize(tree.which) >= members);
}

}  // namespace

bool is_whole(TypeTree const& tree) {
    constexpr std::size_t most = std::size_t{1} << 40;  // A number that nobody meant.
    Wanted const w = tree.counts.empty() ? wanted_small(tree) : wanted_large(tree);
    bool const numbers = w.ints < most && w.counts < most && tree.ints.size() >= w.ints &&
                         tree.places.size() >= w.places && tree.counts.size() >= w.counts;
    bool const empty_structure = tree.maker == Maker::structure && tree.parts.empty();
    bool const parts = w.parts == 0 || !tree.parts.empty() || empty_structure;
    bool const whole = numbers && parts && std::ranges::all_of(tree.which, [&](auto which) {
                           return which < tree.parts.size();
                       });
    if (!whole) return false;
    switch (tree.maker) {
    case Maker::element:
    case Maker::dup:
    case Maker::resized:
        return true;
    case Maker::structure:
        return is_structure(tree);
    case Maker::subarray:
        return is_subarray(tree);
    case Maker::darray:
        return is_darray(tree);
    default:
        return Arguments(tree).count() >= 0;  // So many blocks.
    }
}

namespace {

/// So many instances at equal distances; `follow`: at the distance of the extent.
Shape repeated(Shape const& one, double times, bool follow) noexcept {
    if (times <= 0 || one.runs == 0) return {};
    bool const is_dense = one.is_dense && follow;
    if (times == 1 || is_dense) return {one.runs, one.is_piece, is_dense};
    return {one.is_piece ? 1 : one.runs * times, false, false};
}

/// Blocks at listed places.
Shape listed(TypeTree const& tree, std::span<Shape const> parts) {
    bool const equal = tree.maker == Maker::indexed_block || tree.maker == Maker::hindexed_block;
    Arguments arguments(tree);
    std::int64_t const n = arguments.count();
    std::int64_t const common = equal ? arguments.count() : 0;
    auto const lengths = equal ? Arguments::List(&common) : arguments.counts(n);
    bool const has_own = tree.maker == Maker::structure && !tree.which.empty();
    double runs = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        std::size_t const at = has_own ? tree.which[static_cast<std::size_t>(i)] : 0;
        runs += repeated(parts[at], static_cast<double>(lengths[equal ? 0 : i]), true).runs;
    }
    return {runs, false, false};
}

/// Each dimension repeats the faster ones: in blocks, of a cyclic distribution.
Shape array(TypeTree const& tree, Shape shape) {
    Arguments arguments(tree);
    bool const is_dealt_out = tree.maker == Maker::darray;
    if (is_dealt_out) arguments.integers(2);
    std::int64_t const n = arguments.integer();
    auto const sizes = arguments.counts(n);
    auto const given = is_dealt_out ? arguments.integers(n) : arguments.counts(n);
    for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t const d = tree.c_order ? n - 1 - i : i;
        bool const is_cyclic =
            is_dealt_out && given[d] == static_cast<std::int64_t>(Distribution::cyclic);
        auto const most = static_cast<double>(is_dealt_out ? sizes[d] : given[d]);
        bool const is_whole = !is_dealt_out && given[d] == sizes[d];
        Shape const block = repeated(shape, most, true);
        shape = is_cyclic ? repeated(block, most, false) : block;
        shape.is_dense = shape.is_dense && is_whole;
    }
    return shape;
}

}  // namespace

Shape shape_at_most(TypeTree const& tree, std::span<Shape const> parts) {
    Arguments arguments(tree);
    switch (tree.maker) {
    case Maker::element:
        return {2, false, false};
    case Maker::dup:
    case Maker::resized:
        return {parts[0].runs, parts[0].is_piece, false};
    case Maker::contiguous:
        return repeated(parts[0], static_cast<double>(arguments.count()), true);
    case Maker::vector:
    case Maker::hvector: {
        auto const count = static_cast<double>(arguments.count());
        auto const length = static_cast<double>(arguments.count());
        return repeated(repeated(parts[0], length, true), count, false);
    }
    case Maker::subarray:
    case Maker::darray:
        return array(tree, parts[0]);
    default:
        return listed(tree, parts);
    }
}

Shape shape_of(Layout const& layout) {
    Shape shape;
    layout.for_each_run([&](Run const& run) {
        shape.runs += 1;
        shape.is_piece = shape.runs == 1 && run.count == 1;
        shape.is_dense = shape.is_piece && run.length == layout.tile_extent();
    });
    return shape;
}

}  // namespace sluice::record
