// Datatypes are read by MPI_Type_get_envelope and MPI_Type_get_contents. Those that large-count
// constructors made keep their numbers in an array of their own, others in arrays of ints and of
// addresses. The MPI fills each array once, where the type tree keeps it.
#include "mpi/datatype/capture.hpp"

#include "base/external32.hpp"
#include "mpi/datatype/named_types.hpp"

#include <optional>
#include <unordered_map>

namespace sluice {
namespace {

struct Envelope {
    explicit Envelope(MPI_Datatype type) {
#ifdef SLUICE_HAVE_LARGE_COUNT
        PMPI_Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner);
#else
        PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
#endif
    }
#ifdef SLUICE_HAVE_LARGE_COUNT
    MPI_Count ints = 0, addresses = 0, counts = 0, types = 0;
#else
    int ints = 0, addresses = 0, counts = 0, types = 0;
#endif
    int combiner = MPI_COMBINER_NAMED;
};

std::optional<Maker> maker_of(int combiner) noexcept {
    switch (combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
        return Maker::element;
    case MPI_COMBINER_DUP:
        return Maker::dup;
    case MPI_COMBINER_CONTIGUOUS:
        return Maker::contiguous;
    case MPI_COMBINER_VECTOR:
        return Maker::vector;
    case MPI_COMBINER_HVECTOR:
        return Maker::hvector;
    case MPI_COMBINER_INDEXED:
        return Maker::indexed;
    case MPI_COMBINER_HINDEXED:
        return Maker::hindexed;
    case MPI_COMBINER_INDEXED_BLOCK:
        return Maker::indexed_block;
    case MPI_COMBINER_HINDEXED_BLOCK:
        return Maker::hindexed_block;
    case MPI_COMBINER_STRUCT:
        return Maker::structure;
    case MPI_COMBINER_SUBARRAY:
        return Maker::subarray;
    case MPI_COMBINER_DARRAY:
        return Maker::darray;
    case MPI_COMBINER_RESIZED:
        return Maker::resized;
    default:
        return std::nullopt;
    }
}

/// The form of a predefined datatype. Those of MPI_Type_create_f90_* have no names.
ElementForm form_of(MPI_Datatype type, int combiner, Bytes size) noexcept {
    bool const is_complex = combiner == MPI_COMBINER_F90_COMPLEX;
    bool const is_plain = combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL;
    if (is_complex && size == 8) return ElementForm::complex_4;
    if (is_complex && size == 16) return ElementForm::complex_8;
    if (is_plain && size == 4) return ElementForm::number_4;
    if (is_plain && size == 8) return ElementForm::number_8;
    return sluice::form_of(type);
}

int distribution_of(int word) noexcept {
    Distribution const all = word == MPI_DISTRIBUTE_NONE    ? Distribution::none
                             : word == MPI_DISTRIBUTE_BLOCK ? Distribution::block
                                                            : Distribution::cyclic;
    return static_cast<int>(all);
}

/// Words of the MPI, in the lists of ints, as this library writes them.
void translate(TypeTree& type_tree) {
    bool const is_array = type_tree.maker == Maker::subarray || type_tree.maker == Maker::darray;
    if (!is_array) return;
    type_tree.c_order = type_tree.ints.back() == MPI_ORDER_C;
    type_tree.ints.back() = 0;
    if (type_tree.maker == Maker::subarray) return;
    auto const n = static_cast<std::size_t>(type_tree.ints[2]);
    std::size_t const words = type_tree.counts.empty() ? 3 + n : 3;  // The sizes come before them.
    for (std::size_t i = words; i < words + n; ++i) {
        type_tree.ints[i] = distribution_of(type_tree.ints[i]);
        int& argument = type_tree.ints[i + n];
        if (argument == MPI_DISTRIBUTE_DFLT_DARG) argument = static_cast<int>(default_argument);
    }
}

static_assert(sizeof(MPI_Aint) == sizeof(std::int64_t) &&
              sizeof(MPI_Count) == sizeof(std::int64_t));

/// Lets the MPI fill the type tree's lists. The datatypes have to be freed.
std::vector<MPI_Datatype> take_contents(MPI_Datatype type, Envelope const& e, TypeTree& to) {
    to.ints.resize(static_cast<std::size_t>(e.ints));
    to.places.resize(static_cast<std::size_t>(e.addresses));
    to.counts.resize(static_cast<std::size_t>(e.counts));
    std::vector<MPI_Datatype> types(static_cast<std::size_t>(e.types));
    auto* const places = reinterpret_cast<MPI_Aint*>(to.places.data());
#ifdef SLUICE_HAVE_LARGE_COUNT
    auto* const counts = reinterpret_cast<MPI_Count*>(to.counts.data());
    PMPI_Type_get_contents_c(type, e.ints, e.addresses, e.counts, e.types, to.ints.data(), places,
                             counts, types.data());
#else
    PMPI_Type_get_contents(type, e.ints, e.addresses, e.types, to.ints.data(), places,
                           types.data());
#endif
    return types;
}

/// Takes one datatype apart, with all that it is made of.
class TreeCapture {
public:
    explicit TreeCapture(Representation representation) noexcept
        : representation_(representation) {}

    [[nodiscard]] std::shared_ptr<TypeTree const> of(MPI_Datatype type) const {
        Envelope const envelope(type);
        auto const maker = maker_of(envelope.combiner);
        if (!maker) return nullptr;
        auto const type_tree = std::make_shared<TypeTree>();
        type_tree->maker = *maker;
        take_bounds(type, *type_tree);
        if (*maker == Maker::element) {
            if (!take_element(type, envelope, *type_tree)) return nullptr;
        } else {
            if (!take_parts(take_contents(type, envelope, *type_tree), *type_tree)) return nullptr;
            translate(*type_tree);
        }
        type_tree->seal();
        return type_tree;
    }

private:
    /// False where external32 has no such element.
    [[nodiscard]] bool take_element(MPI_Datatype type, Envelope const& envelope,
                                    TypeTree& to) const {
        to.size = size_of(type);
        to.form = form_of(type, envelope.combiner, to.size);
        if (representation_ == Representation::external32) to.size = external32_bytes(to.form);
        to.short_int = type == MPI_SHORT_INT && to.bounded && to.size != to.extent;
        return representation_ == Representation::native || to.size > 0;
    }

    /// In memory the MPI may pad structures; in external32 nothing is padded.
    void take_bounds(MPI_Datatype type, TypeTree& type_tree) const {
        type_tree.bounded = representation_ == Representation::native;
        if (!type_tree.bounded) return;
        MPI_Count lower = 0, extent = 0;
        PMPI_Type_get_extent_x(type, &lower, &extent);
        type_tree.lower = lower, type_tree.extent = extent;
    }

    /// Each datatype once, however often it is listed; frees the handles. False where one is not
    /// known.
    [[nodiscard]] bool take_parts(std::vector<MPI_Datatype> const& types, TypeTree& to) const {
        std::unordered_map<MPI_Datatype, std::uint32_t> places;
        std::vector<bool> owned;
        to.which.reserve(types.size() > 1 ? types.size() : 0);
        for (MPI_Datatype const type : types) {
            auto const next = static_cast<std::uint32_t>(to.parts.size());
            bool const again = !to.which.empty() && types[to.which.size() - 1] == type;
            std::uint32_t at =
                again ? to.which.back() : places.try_emplace(type, next).first->second;
            if (at == next) {
                to.parts.push_back(of(type));
                owned.push_back(!is_predefined(type));
            }
            to.which.push_back(at);
        }
        bool known = true;
        for (auto const& part : to.parts) known = known && part;
        for (std::size_t i = 0; i < types.size(); ++i) {
            MPI_Datatype type = types[i];
            if (owned[to.which[i]]) PMPI_Type_free(&type);
        }
        if (to.parts.size() == 1) to.which = std::vector<std::uint32_t>();  // With its memory.
        return known;
    }

    Representation representation_;
};

}  // namespace

std::shared_ptr<TypeTree const> capture(MPI_Datatype type, Representation representation) {
    return TreeCapture(representation).of(type);
}

bool is_predefined(MPI_Datatype type) {
    return maker_of(Envelope(type).combiner) == Maker::element;
}

Bytes size_of(MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

}  // namespace sluice
