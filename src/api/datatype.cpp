// From envelopes and contents to runs. Types made by large-count constructors keep their counts in
// an array of their own; others in the int array: `Contents` hides the difference.
#include "api/datatype.hpp"

#include <optional>

namespace sluice {
namespace {

/// Runs of one instance, and the step from one instance to the next.
struct Flat {
    Sections runs;
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

/// Collects the instances that a type is made of, and its bounds where nobody sets them.
class Builder {
public:
    /// A block of `count` instances of `child` at `shift`.
    void add_block(Flat const& child, Offset shift, std::int64_t count) {
        if (count <= 0) return;
        all_.add_repeated(child.runs, shift, count, child.extent);
        cover(shift + child.lower);
        cover(shift + child.lower + child.extent);
        cover(shift + child.lower + (count - 1) * child.extent);
        cover(shift + child.lower + count * child.extent);
    }
    /// `count` blocks of `length` instances, `step` bytes apart.
    void add_blocks(Flat const& child, std::int64_t count, std::int64_t length, Offset step) {
        if (count <= 0 || length <= 0) return;
        Builder block;
        block.add_block(child, 0, length);
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

using Lists = std::vector<std::int64_t>;

/// One dimension of an array: which of its indices are selected, as blocks (begin, length).
using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Wraps the selection of the faster dimensions in one more: `step` is the bytes of one index.
Sections add_dimension(Sections const& inner, Blocks const& blocks, Offset step) {
    Extents all;
    for (auto const& [begin, length] : blocks) all.add_repeated(inner, begin * step, length, step);
    return std::move(all).take();
}

/// The array of `sizes` whose dimension d selects `blocks[d]`; the last one given runs fastest in
/// C.
void add_dimensions(Builder& to, Flat const& child, Lists const& sizes,
                    std::vector<Blocks> const& blocks, bool c_order) {
    Sections runs = child.runs;
    Offset step = child.extent;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::size_t const d = c_order ? sizes.size() - 1 - i : i;
        runs = add_dimension(runs, blocks[d], step);
        step *= sizes[d];
    }
    to.add_array(runs, step);
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

/// Takes one datatype apart, with all that it is made of.
class Flattener {
public:
    explicit Flattener(Representation representation) noexcept : representation_(representation) {}

    std::optional<Flat> flatten(MPI_Datatype type) const {
        Contents c(type);
        switch (c.combiner) {
        case MPI_COMBINER_NAMED:
        case MPI_COMBINER_F90_INTEGER:
        case MPI_COMBINER_F90_REAL:
        case MPI_COMBINER_F90_COMPLEX:
            return named(type);
        default:
            break;
        }
        Builder all;
        bool const known = c.combiner == MPI_COMBINER_STRUCT ? add_struct(all, c) : add(all, c);
        if (!known) return std::nullopt;
        Flat flat = std::move(all).flat();
        // In memory the MPI may pad structures; in external32 nothing is padded.
        if (representation_ == Representation::native) take_bounds(type, flat);
        return flat;
    }

private:
    static void take_bounds(MPI_Datatype type, Flat& flat) {
        MPI_Count lower = 0, extent = 0;
        PMPI_Type_get_extent_x(type, &lower, &extent);
        flat.lower = lower, flat.extent = extent;
    }

    /// Named types are dense but for a few pairs of C (MPI_DOUBLE_INT): a value and an int.
    [[nodiscard]] Flat named(MPI_Datatype type) const {
        Bytes const size = size_of(type, representation_);
        Flat flat{{}, 0, size};
        if (representation_ == Representation::native) take_bounds(type, flat);
        if (size == 0) return flat;
        flat.runs = std::vector<Run>{{0, size, 0, 1}};
        if (size != flat.extent && type == MPI_SHORT_INT) {
            flat.runs =
                std::vector<Run>{{0, sizeof(short), 0, 1}, {sizeof(int), sizeof(int), 0, 1}};
        }
        return flat;
    }

    bool add_struct(Builder& to, Contents& c) const {
        std::int64_t const n = c.count();
        Lists const lengths = c.counts(n), places = c.addresses(n);
        for (std::size_t i = 0; i < places.size(); ++i) {
            auto const child = flatten(c.type(i));
            if (!child) return false;
            to.add_block(*child, places[i], lengths[i]);
        }
        return true;
    }

    /// Combiners with one datatype below; false where it is not known.
    bool add(Builder& to, Contents& c) const {
        auto const child = flatten(c.type());
        if (!child) return false;
        switch (c.combiner) {
        case MPI_COMBINER_DUP:
            to.add_block(*child, 0, 1);
            return true;
        case MPI_COMBINER_RESIZED: {
            to.add_block(*child, 0, 1);
            Offset const lower = c.address();
            to.set_bounds(lower, c.address());
            return true;
        }
        case MPI_COMBINER_CONTIGUOUS:
            to.add_block(*child, 0, c.count());
            return true;
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR: {
            std::int64_t const count = c.count(), length = c.count();
            bool const bytes = c.combiner == MPI_COMBINER_HVECTOR;
            to.add_blocks(*child, count, length, bytes ? c.address() : c.count() * child->extent);
            return true;
        }
        case MPI_COMBINER_SUBARRAY:
            add_subarray(to, c, *child);
            return true;
        case MPI_COMBINER_DARRAY:
            add_darray(to, c, *child);
            return true;
        default:
            return add_listed(to, c, *child);
        }
    }

    /// Blocks at listed places, counted in bytes or in extents, of listed or of equal lengths.
    static bool add_listed(Builder& to, Contents& c, Flat const& child) {
        bool const equal =
            c.combiner == MPI_COMBINER_INDEXED_BLOCK || c.combiner == MPI_COMBINER_HINDEXED_BLOCK;
        bool const bytes =
            c.combiner == MPI_COMBINER_HINDEXED || c.combiner == MPI_COMBINER_HINDEXED_BLOCK;
        if (!equal && !bytes && c.combiner != MPI_COMBINER_INDEXED) return false;
        std::int64_t const n = c.count();
        Lists const lengths = equal ? Lists{c.count()} : c.counts(n);
        Lists const places = bytes ? c.addresses(n) : c.counts(n);
        for (std::size_t i = 0; i < places.size(); ++i) {
            to.add_block(child, places[i] * (bytes ? 1 : child.extent), lengths[equal ? 0 : i]);
        }
        return true;
    }

    static void add_subarray(Builder& to, Contents& c, Flat const& child) {
        int const n = c.integer();
        Lists const sizes = c.counts(n), subsizes = c.counts(n), starts = c.counts(n);
        bool const c_order = c.integer() == MPI_ORDER_C;
        std::vector<Blocks> blocks;
        for (std::size_t d = 0; d < sizes.size(); ++d) blocks.push_back({{starts[d], subsizes[d]}});
        add_dimensions(to, child, sizes, blocks, c_order);
    }

    static void add_darray(Builder& to, Contents& c, Flat const& child) {
        c.integer();  // Number of processes: the product of the grid below.
        int rank = c.integer();
        int const n = c.integer();
        Lists const sizes = c.counts(n);
        auto const distributions = c.integers(n), arguments = c.integers(n), grid = c.integers(n);
        bool const c_order = c.integer() == MPI_ORDER_C;
        std::vector<Blocks> blocks(sizes.size());
        for (std::size_t d = sizes.size(); d-- > 0;) {  // Ranks count through the grid in C order.
            blocks[d] =
                distributed(distributions[d], arguments[d], sizes[d], grid[d], rank % grid[d]);
            rank /= grid[d];
        }
        add_dimensions(to, child, sizes, blocks, c_order);
    }

    Representation representation_;
};

}  // namespace

bool is_named(MPI_Datatype type) {
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

Bytes size_of(MPI_Datatype type, Representation representation) {
    if (representation == Representation::external32) {
        MPI_Aint size = 0;
        PMPI_Pack_external_size("external32", 1, type, &size);
        return size;
    }
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

std::shared_ptr<Layout const> flatten(MPI_Datatype type, Representation representation) {
    auto flat = Flattener(representation).flatten(type);
    if (!flat) return nullptr;
    Layout layout(std::move(flat->runs), flat->extent);
    if (layout.is_contiguous() && layout.offset_at(0) == 0) return Layout::contiguous();
    return std::make_shared<Layout const>(std::move(layout));
}

}  // namespace sluice
