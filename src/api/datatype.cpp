// From envelopes and contents to runs. Types made by large-count constructors keep their counts in
// an array of their own; others in the int array: `Contents` hides the difference.
#include "api/datatype.hpp"

#include <optional>

namespace sluice {
namespace {

/// Runs of one instance, and the step from one instance to the next.
struct Flat {
    std::vector<Run> runs;
    Offset lower = 0, extent = 0;
};

/// What a constructor was given, in the order of its arguments.
class Contents {
public:
    explicit Contents(MPI_Datatype type) {
#ifdef SLUICE_HAVE_LARGE_COUNT
        MPI_Count ints = 0, addresses = 0, counts = 0, types = 0;
        PMPI_Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner);
        resize(ints, addresses, counts, types);
        if (combiner == MPI_COMBINER_NAMED) return;
        PMPI_Type_get_contents_c(type, ints, addresses, counts, types, ints_.data(),
                                 addresses_.data(), counts_.data(), types_.data());
#else
        int ints = 0, addresses = 0, types = 0;
        PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
        resize(ints, addresses, 0, types);
        if (combiner == MPI_COMBINER_NAMED) return;
        PMPI_Type_get_contents(type, ints, addresses, types, ints_.data(), addresses_.data(),
                               types_.data());
#endif
    }
    ~Contents() {
        for (MPI_Datatype type : types_) {
            if (!is_named(type)) PMPI_Type_free(&type);
        }
    }
    Contents(Contents const&) = delete;
    Contents& operator=(Contents const&) = delete;

    int combiner = MPI_COMBINER_NAMED;

    int integer() { return ints_[next_int_++]; }
    std::int64_t count() { return counts_.empty() ? integer() : next_large(); }
    std::int64_t address() { return counts_.empty() ? addresses_[next_address_++] : next_large(); }
    std::vector<std::int64_t> counts(std::int64_t n) {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < n; ++i) all.push_back(count());
        return all;
    }
    std::vector<std::int64_t> addresses(std::int64_t n) {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < n; ++i) all.push_back(address());
        return all;
    }
    std::vector<int> integers(int n) {
        std::vector<int> all;
        for (int i = 0; i < n; ++i) all.push_back(integer());
        return all;
    }
    [[nodiscard]] MPI_Datatype type(std::size_t i = 0) const { return types_[i]; }

private:
    static bool is_named(MPI_Datatype type) {
        int ints = 0, addresses = 0, types = 0, what = 0;
#ifdef SLUICE_HAVE_LARGE_COUNT
        MPI_Count a = 0, b = 0, c = 0, d = 0;
        PMPI_Type_get_envelope_c(type, &a, &b, &c, &d, &what);
        (void)ints, (void)addresses, (void)types;
#else
        PMPI_Type_get_envelope(type, &ints, &addresses, &types, &what);
#endif
        return what == MPI_COMBINER_NAMED;
    }
    std::int64_t next_large() { return counts_[next_count_++]; }
    void resize(std::int64_t ints, std::int64_t addresses, std::int64_t counts,
                std::int64_t types) {
        ints_.resize(static_cast<std::size_t>(ints));
        addresses_.resize(static_cast<std::size_t>(addresses));
        counts_.resize(static_cast<std::size_t>(counts));
        types_.resize(static_cast<std::size_t>(types));
    }

    std::vector<int> ints_;
    std::vector<MPI_Aint> addresses_;
    std::vector<MPI_Count> counts_;
    std::vector<MPI_Datatype> types_;
    std::size_t next_int_ = 0, next_address_ = 0, next_count_ = 0;
};

std::optional<Flat> flatten_one(MPI_Datatype type);

void extent_of(MPI_Datatype type, Flat& flat) {
    MPI_Count lower = 0, extent = 0;
    PMPI_Type_get_extent_x(type, &lower, &extent);
    flat.lower = lower, flat.extent = extent;
}

/// A block of `count` instances of `child` at `shift`.
void add_block(Extents& to, Flat const& child, Offset shift, std::int64_t count) {
    to.add_repeated(child.runs, shift, count, child.extent);
}

/// `count` blocks of `length` instances, `step` bytes apart.
void add_blocks(Extents& to, Flat const& child, std::int64_t count, std::int64_t length,
                Offset step) {
    Extents block;
    add_block(block, child, 0, length);
    to.add_repeated(block.runs(), 0, count, step);
}

using Lists = std::vector<std::int64_t>;

void add_listed(Extents& to, Flat const& child, Lists const& lengths, Lists const& places,
                Offset unit) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        add_block(to, child, places[i] * unit, lengths[lengths.size() == 1 ? 0 : i]);
    }
}

/// One dimension of an array: which of its indices are selected, as blocks (begin, length).
using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Wraps the selection of the faster dimensions in one more: `step` is the bytes of one index.
std::vector<Run> add_dimension(std::vector<Run> const& inner, Blocks const& blocks, Offset step) {
    Extents all;
    for (auto const& [begin, length] : blocks) all.add_repeated(inner, begin * step, length, step);
    return std::move(all).take();
}

/// The array of `sizes` whose dimension d selects `blocks[d]`; the last one given runs fastest in
/// C.
std::vector<Run> add_dimensions(Flat const& child, Lists const& sizes,
                                std::vector<Blocks> const& blocks, bool c_order) {
    std::vector<Run> runs = child.runs;
    Offset step = child.extent;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::size_t const d = c_order ? sizes.size() - 1 - i : i;
        runs = add_dimension(runs, blocks[d], step);
        step *= sizes[d];
    }
    return runs;
}

std::vector<Run> flatten_subarray(Contents& c, Flat const& child) {
    int const n = c.integer();
    Lists const sizes = c.counts(n), subsizes = c.counts(n), starts = c.counts(n);
    bool const c_order = c.integer() == MPI_ORDER_C;
    std::vector<Blocks> blocks;
    for (std::size_t d = 0; d < sizes.size(); ++d) blocks.push_back({{starts[d], subsizes[d]}});
    return add_dimensions(child, sizes, blocks, c_order);
}

/// The indices that process `place` of `processes` holds of `size`.
Blocks distributed(int distribution, int argument, std::int64_t size, int processes, int place) {
    if (distribution == MPI_DISTRIBUTE_NONE) return {{0, size}};
    std::int64_t length = argument;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) {
        length = distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    }
    Blocks blocks;
    for (std::int64_t at = place * length; at < size; at += length * processes) {
        blocks.push_back({at, std::min(length, size - at)});
    }
    return blocks;
}

std::vector<Run> flatten_darray(Contents& c, Flat const& child) {
    c.integer();  // Number of processes: the product of the grid below.
    int rank = c.integer();
    int const n = c.integer();
    Lists const sizes = c.counts(n);
    auto const distributions = c.integers(n), arguments = c.integers(n), grid = c.integers(n);
    bool const c_order = c.integer() == MPI_ORDER_C;
    std::vector<Blocks> blocks(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {  // Ranks count through the grid in C order.
        blocks[d] = distributed(distributions[d], arguments[d], sizes[d], grid[d], rank % grid[d]);
        rank /= grid[d];
    }
    return add_dimensions(child, sizes, blocks, c_order);
}

std::optional<std::vector<Run>> flatten_struct(Contents& c) {
    std::int64_t const n = c.count();
    Lists const lengths = c.counts(n), places = c.addresses(n);
    Extents all;
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto const child = flatten_one(c.type(i));
        if (!child) return std::nullopt;
        add_block(all, *child, places[i], lengths[i]);
    }
    return std::move(all).take();
}

/// Combiners with one datatype below.
std::optional<std::vector<Run>> flatten_over(Contents& c, Flat const& child) {
    Extents all;
    switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return child.runs;
    case MPI_COMBINER_CONTIGUOUS:
        add_block(all, child, 0, c.count());
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
        std::int64_t const count = c.count(), length = c.count();
        bool const bytes = c.combiner == MPI_COMBINER_HVECTOR;
        add_blocks(all, child, count, length, bytes ? c.address() : c.count() * child.extent);
        break;
    }
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
        std::int64_t const n = c.count();
        Lists const lengths = c.counts(n);
        bool const bytes = c.combiner == MPI_COMBINER_HINDEXED;
        add_listed(all, child, lengths, bytes ? c.addresses(n) : c.counts(n),
                   bytes ? 1 : child.extent);
        break;
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
        std::int64_t const n = c.count();
        Lists const length{c.count()};
        bool const bytes = c.combiner == MPI_COMBINER_HINDEXED_BLOCK;
        add_listed(all, child, length, bytes ? c.addresses(n) : c.counts(n),
                   bytes ? 1 : child.extent);
        break;
    }
    case MPI_COMBINER_SUBARRAY:
        return flatten_subarray(c, child);
    case MPI_COMBINER_DARRAY:
        return flatten_darray(c, child);
    default:
        return std::nullopt;
    }
    return std::move(all).take();
}

/// Named types are dense but for a few pairs of C (MPI_DOUBLE_INT): a value and an int.
std::vector<Run> flatten_named(MPI_Datatype type, Flat const& flat) {
    Bytes const size = size_of(type);
    if (size == 0) return {};
    if (size == flat.extent) return {{0, size, 0, 1}};
    Bytes const last = sizeof(int);
    if (type == MPI_SHORT_INT) return {{0, sizeof(short), 0, 1}, {sizeof(int), last, 0, 1}};
    return {{0, size, 0, 1}};
}

std::optional<Flat> flatten_one(MPI_Datatype type) {
    Flat flat;
    extent_of(type, flat);
    Contents c(type);
    switch (c.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
        flat.runs = flatten_named(type, flat);
        return flat;
    case MPI_COMBINER_STRUCT: {
        auto runs = flatten_struct(c);
        if (!runs) return std::nullopt;
        flat.runs = std::move(*runs);
        return flat;
    }
    default:
        break;
    }
    auto const child = flatten_one(c.type());
    if (!child) return std::nullopt;
    auto runs = flatten_over(c, *child);
    if (!runs) return std::nullopt;
    flat.runs = std::move(*runs);
    return flat;
}

}  // namespace

Bytes size_of(MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

std::shared_ptr<Layout const> flatten(MPI_Datatype type) {
    auto flat = flatten_one(type);
    if (!flat) return nullptr;
    Layout layout(std::move(flat->runs), flat->extent);
    if (layout.is_contiguous() && layout.runs()[0].offset == 0) return Layout::contiguous();
    return std::make_shared<Layout const>(std::move(layout));
}

}  // namespace sluice
