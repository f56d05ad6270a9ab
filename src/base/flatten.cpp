// There is one function for each group of datatype constructors. They read lists where they lie.
// See flatten.hpp.
#include "base/flatten.hpp"

#include <utility>

namespace sluice {
namespace {

/// Runs of one instance, and the step from one instance to the next.
struct Flat {
    Sections runs;
    Offset lower = 0, extent = 0;
};

/// Collects the instances that a type is made of, and its bounds where nobody sets them.
class Builder {
public:
    /// A block of `count` instances of `part` at `shift`.
    void add_block(Flat const& part, Offset shift, std::int64_t count) {
        if (count <= 0) return;
        all_.add_repeated(part.runs, shift, count, part.extent);
        cover(shift + part.lower);
        cover(shift + part.lower + part.extent);
        cover(shift + part.lower + (count - 1) * part.extent);
        cover(shift + part.lower + count * part.extent);
    }
    /// The same of dense parts whose bounds are known otherwise: one run a block.
    void add_dense(Flat const& part, Offset shift, std::int64_t count) {
        if (count > 0) all_.add({shift + part.runs.all()[0].offset, count * part.extent, 0, 1});
    }
    /// `count` blocks of `length` instances, `step` bytes apart.
    void add_blocks(Flat const& part, std::int64_t count, std::int64_t length, Offset step) {
        if (count <= 0 || length <= 0) return;
        Builder block;
        block.add_block(part, 0, length);
        all_.add_repeated(std::move(block.all_).take(), 0, count, step);
        for (Offset const shift : {Offset{0}, (count - 1) * step}) {
            cover(shift + block.lower_);
            cover(shift + block.upper_);
        }
    }
    /// Runs that fill an array of `extent` bytes.
    void add_array(Sections const& runs, Offset extent) {
        all_.add_repeated(runs, 0, 1, 0);
        cover(0);
        cover(extent);
    }
    void set_bounds(Offset lower, Offset extent) { lower_ = lower, upper_ = lower + extent; }

    [[nodiscard]] Flat flat() && {
        return {std::move(all_).take(), empty_ ? 0 : lower_, empty_ ? 0 : upper_ - lower_};
    }

private:
    void cover(Offset place) {
        lower_ = empty_ ? place : std::min(lower_, place);
        upper_ = empty_ ? place : std::max(upper_, place);
        empty_ = false;
    }
    Extents all_;
    Offset lower_ = 0, upper_ = 0;
    bool empty_ = true;
};

/// Which indices of one dimension of an array are selected: blocks at equal distances, of which
/// the last one may be shorter.
struct Blocks {
    std::int64_t begin = 0, length = 0, distance = 0, count = 0;
    std::int64_t rest = 0;  ///< Of a shorter block that follows the others.
};

struct Dimension {
    std::int64_t size;
    Blocks blocks;
};

/// Wraps the selection of the faster dimensions in one more: `step` is the bytes of one index.
Sections add_dimension(Sections const& inner, Blocks const& blocks, Offset step) {
    Extents block, all;
    block.add_repeated(inner, 0, blocks.length, step);
    Offset const begin = blocks.begin * step, distance = blocks.distance * step;
    all.add_repeated(std::move(block).take(), begin, blocks.count, distance);
    all.add_repeated(inner, begin + blocks.count * distance, blocks.rest, step);
    return std::move(all).take();
}

void add_dimensions(Builder& to, Flat const& part, std::vector<Dimension> const& dimensions,
                    bool c_order) {
    Sections runs = part.runs;
    Offset step = part.extent;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        auto const& [size, blocks] = dimensions[c_order ? dimensions.size() - 1 - i : i];
        runs = add_dimension(runs, blocks, step);
        step *= size;
    }
    to.add_array(runs, step);
}

/// The indices that process `place` of `processes` holds of `size`.
Blocks distributed(Distribution distribution, std::int64_t argument, std::int64_t size,
                   std::int64_t processes, std::int64_t place) {
    if (distribution == Distribution::none) return {0, size, 0, 1};
    std::int64_t length = argument;
    if (argument == default_argument) {
        length = distribution == Distribution::block ? (size + processes - 1) / processes : 1;
    }
    std::int64_t const begin = place * length, distance = length * processes;
    std::int64_t const left = std::max<std::int64_t>(size - begin, 0);
    // Of the last block a part may lie behind the end.
    std::int64_t const count = left / distance + (left % distance >= length ? 1 : 0);
    std::int64_t const rest = left % distance >= length ? 0 : left % distance;
    // Nothing lies behind the array, nor anything a distance away that is longer than the array:
    // such numbers are left out, because their products may be none.
    return {std::min(begin, size), std::min(length, size), distance <= left ? distance : 0, count,
            rest};
}

/// Whether instances that follow each other are one piece.
bool is_dense(Flat const& part) noexcept {
    auto const& all = part.runs.all();
    return all.size() == 1 && all[0].count == 1 && all[0].bytes == part.extent;
}

Flat flattened(TypeTree const& type_tree);

Flat element(TypeTree const& type_tree) {
    Flat flat{{}, 0, type_tree.size};
    if (type_tree.size == 0) return flat;
    if (type_tree.short_int)
        flat.runs = std::vector<Run>{{0, sizeof(short), 0, 1}, {sizeof(int), sizeof(int), 0, 1}};
    else
        flat.runs = std::vector<Run>{{0, type_tree.size, 0, 1}};
    return flat;
}

/// `length(i)` instances of `part(i)` at `place(i)`, for all i below n.
template <class Length, class Place>
void add_pieces(Builder& to, Flat const& part, bool bounded, std::int64_t n, Length&& length,
                Place&& place) {
    if (bounded && is_dense(part)) {
        for (std::int64_t i = 0; i < n; ++i) to.add_dense(part, place(i), length(i));
    } else {
        for (std::int64_t i = 0; i < n; ++i) to.add_block(part, place(i), length(i));
    }
}

/// Blocks at listed places, counted in bytes or in extents, of listed or of equal lengths.
void add_listed(Builder& to, TypeTree const& type_tree, Flat const& part) {
    Maker const maker = type_tree.maker;
    bool const equal = maker == Maker::indexed_block || maker == Maker::hindexed_block;
    bool const bytes = maker == Maker::hindexed || maker == Maker::hindexed_block;
    Arguments arguments(type_tree);
    std::int64_t const n = arguments.count();
    std::int64_t const common = equal ? arguments.count() : 0;
    auto const lengths = equal ? Arguments::List(&common) : arguments.counts(n);
    auto const places = bytes ? arguments.places(n) : arguments.counts(n);
    Offset const unit = bytes ? 1 : part.extent;
    auto const place = [&](std::int64_t i) { return places[i] * unit; };
    if (equal)
        add_pieces(to, part, type_tree.bounded, n, [&](std::int64_t) { return common; }, place);
    else
        add_pieces(
            to, part, type_tree.bounded, n, [&](std::int64_t i) { return lengths[i]; }, place);
}

void add_structure(Builder& to, TypeTree const& type_tree) {
    std::vector<Flat> parts;
    parts.reserve(type_tree.parts.size());
    for (auto const& part : type_tree.parts) parts.push_back(flattened(*part));
    Arguments arguments(type_tree);
    std::int64_t const n = arguments.count();
    auto const lengths = arguments.counts(n);
    auto const places = arguments.places(n);
    std::vector<bool> dense;
    for (Flat const& part : parts) dense.push_back(type_tree.bounded && is_dense(part));
    for (std::int64_t i = 0; i < n; ++i) {
        std::size_t const at =
            type_tree.which.empty() ? 0 : type_tree.which[static_cast<std::size_t>(i)];
        if (dense[at])
            to.add_dense(parts[at], places[i], lengths[i]);
        else
            to.add_block(parts[at], places[i], lengths[i]);
    }
}

void add_subarray(Builder& to, TypeTree const& type_tree, Flat const& part) {
    Arguments arguments(type_tree);
    std::int64_t const n = arguments.integer();
    auto const sizes = arguments.counts(n), subsizes = arguments.counts(n);
    auto const starts = arguments.counts(n);
    std::vector<Dimension> dimensions;
    for (std::int64_t d = 0; d < n; ++d) {
        dimensions.push_back({sizes[d], {starts[d], subsizes[d], 0, 1}});
    }
    add_dimensions(to, part, dimensions, type_tree.c_order);
}

void add_darray(Builder& to, TypeTree const& type_tree, Flat const& part) {
    Arguments arguments(type_tree);
    arguments.integer();  // Number of processes: the product of the grid below.
    std::int64_t rank = arguments.integer();
    std::int64_t const n = arguments.integer();
    auto const sizes = arguments.counts(n);
    auto const distributions = arguments.integers(n), given = arguments.integers(n);
    auto const grid = arguments.integers(n);
    std::vector<Dimension> dimensions(static_cast<std::size_t>(n));
    for (std::int64_t d = n; d-- > 0;) {  // Ranks count through the grid in C order.
        auto const distribution = static_cast<Distribution>(distributions[d]);
        dimensions[static_cast<std::size_t>(d)] = {
            sizes[d], distributed(distribution, given[d], sizes[d], grid[d], rank % grid[d])};
        rank /= grid[d];
    }
    add_dimensions(to, part, dimensions, type_tree.c_order);
}

/// Constructors with one datatype below: `part`.
void add(Builder& to, TypeTree const& type_tree, Flat const& part) {
    Arguments arguments(type_tree);
    switch (type_tree.maker) {
    case Maker::dup:
        return to.add_block(part, 0, 1);
    case Maker::resized: {
        to.add_block(part, 0, 1);
        Offset const lower = arguments.place();
        return to.set_bounds(lower, arguments.place());
    }
    case Maker::contiguous:
        return to.add_block(part, 0, arguments.count());
    case Maker::vector:
    case Maker::hvector: {
        std::int64_t const count = arguments.count(), length = arguments.count();
        bool const bytes = type_tree.maker == Maker::hvector;
        Offset const step = bytes ? arguments.place() : arguments.count() * part.extent;
        return to.add_blocks(part, count, length, step);
    }
    case Maker::subarray:
        return add_subarray(to, type_tree, part);
    case Maker::darray:
        return add_darray(to, type_tree, part);
    default:
        return add_listed(to, type_tree, part);
    }
}

Flat flattened(TypeTree const& type_tree) {
    Flat flat;
    if (type_tree.maker == Maker::element) {
        flat = element(type_tree);
    } else {
        Builder all;
        if (type_tree.maker == Maker::structure)
            add_structure(all, type_tree);
        else
            add(all, type_tree, flattened(*type_tree.parts.at(0)));
        flat = std::move(all).flat();
    }
    if (type_tree.bounded) flat.lower = type_tree.lower, flat.extent = type_tree.extent;
    return flat;
}

}  // namespace

std::shared_ptr<Layout const> flatten(TypeTree const& type_tree) {
    Flat flat = flattened(type_tree);
    Layout layout(std::move(flat.runs), flat.extent);
    if (layout.is_contiguous() && layout.offset_at(0) == 0) return Layout::contiguous();
    return std::make_shared<Layout const>(std::move(layout));
}

std::int64_t parts_in(TypeTree const& type_tree) {
    Flat byte;
    byte.runs = std::vector<Run>{{0, 1, 0, 1}};
    byte.extent = 1;
    Builder all;
    add(all, type_tree, byte);
    return std::move(all).flat().runs.bytes();
}

}  // namespace sluice
