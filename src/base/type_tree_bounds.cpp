// Bounds are intervals of numbers with 128 bits, so products of two numbers of a type tree always
// fit. See type_tree_bounds.hpp.
#include "base/type_tree_bounds.hpp"

#include "base/layout.hpp"

#include <optional>

namespace sluice {
namespace {

__extension__ using Wide = __int128;

bool is_small(Wide value) noexcept { return value >= -offset_limit && value <= offset_limit; }

/// Of one instance: where its bytes lie, how many they are, and what repeats of it are apart.
struct Reach {
    Wide begin = 0, end = 0;  ///< Of what lies lowest and highest; equal: nothing.
    Wide bytes = 0;
    Wide lower = 0, extent = 0;
    Wide upper = 0;  ///< lower + extent

    [[nodiscard]] bool is_in_range() const noexcept {
        return is_small(begin) && is_small(end) && is_small(bytes) && is_small(lower) &&
               is_small(upper) && is_small(extent);
    }
};

/// Least and largest of some numbers.
struct Range {
    Wide least = 0, most = 0;
};

Range range_of(Arguments::List const& list, std::int64_t n) noexcept {
    if (n <= 0) return {};
    std::int64_t least = list[0], most = list[0];
    for (std::int64_t i = 1; i < n; ++i) {
        least = std::min(least, list[i]);
        most = std::max(most, list[i]);
    }
    return {least, most};
}

/// `part` at all places of a range, in blocks of up to `length` instances; `bytes`: of all.
Reach spread(Reach const& part, Range places, Wide length, Wide bytes) noexcept {
    Wide const last = std::max<Wide>(length - 1, 0) * part.extent;
    Wide const low = places.least + std::min<Wide>(last, 0);
    Wide const high = places.most + std::max<Wide>(last, 0);
    Reach all;
    all.bytes = bytes;
    all.begin = low + part.begin, all.end = high + part.end;
    all.lower = low + part.lower, all.upper = high + part.upper;
    all.extent = all.upper - all.lower;
    return all;
}

Reach join(Reach a, Reach const& b) noexcept {
    a.begin = std::min(a.begin, b.begin), a.end = std::max(a.end, b.end);
    a.lower = std::min(a.lower, b.lower), a.upper = std::max(a.upper, b.upper);
    a.bytes += b.bytes;
    a.extent = a.upper - a.lower;
    return a;
}

Wide total(Arguments::List const& list, std::int64_t n) noexcept {
    Wide sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::max<std::int64_t>(list[i], 0);
    return sum;
}

std::optional<Reach> reach_of(TypeTree const& type_tree);

/// Blocks at listed places, as add_listed() of base/flatten.cpp reads them.
Reach listed(TypeTree const& type_tree, Reach const& part) {
    Maker const maker = type_tree.maker;
    bool const equal = maker == Maker::indexed_block || maker == Maker::hindexed_block;
    bool const bytes = maker == Maker::hindexed || maker == Maker::hindexed_block;
    Arguments arguments(type_tree);
    std::int64_t const n = arguments.count();
    std::int64_t const common = equal ? arguments.count() : 0;
    Wide length = common, all = Wide{n} * common;
    if (!equal) {
        auto const lengths = arguments.counts(n);
        length = range_of(lengths, n).most, all = total(lengths, n);
    }
    Range places = range_of(bytes ? arguments.places(n) : arguments.counts(n), n);
    if (!bytes) places.least *= part.extent, places.most *= part.extent;
    if (places.least > places.most) std::swap(places.least, places.most);
    return spread(part, places, length, all * part.bytes);
}

std::optional<Reach> structure(TypeTree const& type_tree) {
    std::vector<Reach> parts;
    for (auto const& part : type_tree.parts) {
        auto const reach = reach_of(*part);
        if (!reach) return std::nullopt;
        parts.push_back(*reach);
    }
    Arguments arguments(type_tree);
    std::int64_t const n = arguments.count();
    auto const lengths = arguments.counts(n);
    auto const places = arguments.places(n);
    std::optional<Reach> all;
    for (std::int64_t i = 0; i < n; ++i) {
        std::size_t const at =
            type_tree.which.empty() ? 0 : type_tree.which[static_cast<std::size_t>(i)];
        if (lengths[i] <= 0) continue;
        auto const one =
            spread(parts[at], {places[i], places[i]}, lengths[i], parts[at].bytes * lengths[i]);
        all = all ? join(*all, one) : one;
    }
    return all.value_or(Reach{});
}

/// The whole array, of which some elements are selected. Nothing where it has no end.
std::optional<Reach> array(TypeTree const& type_tree, Reach const& part) {
    Arguments arguments(type_tree);
    if (type_tree.maker == Maker::darray) arguments.integers(2);  // Processes, and the rank.
    std::int64_t const n = arguments.integer();
    auto const sizes = arguments.counts(n);
    Wide elements = 1;
    for (std::int64_t i = 0; i < n; ++i) {
        elements *= std::max<std::int64_t>(sizes[i], 1);
        if (!is_small(elements)) return std::nullopt;
    }
    return spread(part, {0, 0}, elements, elements * part.bytes);
}

/// Constructors with one datatype below.
std::optional<Reach> repeated(TypeTree const& type_tree) {
    auto const part = reach_of(*type_tree.parts.at(0));
    if (!part) return std::nullopt;
    Arguments arguments(type_tree);
    switch (type_tree.maker) {
    case Maker::dup:
        return part;
    case Maker::resized: {
        Reach all = *part;
        all.lower = arguments.place();
        all.extent = arguments.place();
        all.upper = all.lower + all.extent;
        return all;
    }
    case Maker::contiguous: {
        Wide const count = arguments.count();
        return spread(*part, {0, 0}, count, count * part->bytes);
    }
    case Maker::vector:
    case Maker::hvector: {
        std::int64_t const count = arguments.count(), length = arguments.count();
        Wide const last = Wide{std::max<std::int64_t>(count - 1, 0)};
        bool const in_bytes = type_tree.maker == Maker::hvector;
        Wide const step = in_bytes ? Wide{arguments.place()} : arguments.count() * part->extent;
        if (!is_small(step)) return std::nullopt;
        Range const places{std::min<Wide>(last * step, 0), std::max<Wide>(last * step, 0)};
        Wide const instances = Wide{count} * length;
        if (!is_small(instances)) return std::nullopt;
        return spread(*part, places, length, instances * part->bytes);
    }
    case Maker::subarray:
    case Maker::darray:
        return array(type_tree, *part);
    default:
        return listed(type_tree, *part);
    }
}

std::optional<Reach> reach_of(TypeTree const& type_tree) {
    std::optional<Reach> reach;
    if (type_tree.maker == Maker::element)
        reach = Reach{0, type_tree.size, type_tree.size, 0, type_tree.size, type_tree.size};
    else
        reach = type_tree.maker == Maker::structure ? structure(type_tree) : repeated(type_tree);
    if (!reach) return std::nullopt;
    if (type_tree.bounded) {
        reach->lower = type_tree.lower, reach->extent = type_tree.extent;
        reach->upper = reach->lower + reach->extent;
        if (type_tree.maker == Maker::element) reach->end = std::max(reach->end, reach->upper);
    }
    return reach->is_in_range() ? reach : std::nullopt;
}

}  // namespace

bool is_in_range(TypeTree const& type_tree) { return reach_of(type_tree).has_value(); }

}  // namespace sluice
