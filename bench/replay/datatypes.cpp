// How type trees become datatypes. See datatypes.hpp.
#include "bench/replay/datatypes.hpp"

#include "base/flatten.hpp"
#include "bench/measure/end_job.hpp"

#include <climits>

namespace sluice::replay {
namespace {

/// A predefined datatype of the element's length; MPI_DATATYPE_NULL where there is none.
MPI_Datatype element_of(TypeTree const& tree) {
    if (tree.short_int) return MPI_SHORT_INT;
    bool const plain = tree.form != ElementForm::complex_4 && tree.extent == tree.size;
    if (!plain) return MPI_DATATYPE_NULL;
    switch (tree.size) {
    case 1:
        return MPI_BYTE;
    case 2:
        return MPI_INT16_T;
    case 4:
        return MPI_INT32_T;
    case 8:
        return MPI_INT64_T;
    default:
        return MPI_DATATYPE_NULL;
    }
}

std::vector<MPI_Aint> addresses(std::vector<std::int64_t> const& places) {
    return {places.begin(), places.end()};
}

/// The pieces of one instance, as bytes.
MPI_Datatype from_pieces(TypeTree const& tree) {
    auto const layout = flatten(tree);
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    Bytes const whole = layout->is_contiguous() ? tree.extent : layout->tile_bytes();
    Cursor cursor(*layout, 0);
    for (Bytes left = whole; left > 0;) {
        Bytes const piece = std::min({left, cursor.piece_left(), Bytes{INT_MAX}});
        lengths.push_back(static_cast<int>(piece));
        places.push_back(cursor.offset());
        left -= piece;
        if (left > 0) cursor.advance_in_piece(piece);
    }
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                             MPI_BYTE, &made);
    return made;
}

int word_of(int distribution) {
    auto const value = static_cast<Distribution>(distribution);
    return value == Distribution::none    ? MPI_DISTRIBUTE_NONE
           : value == Distribution::block ? MPI_DISTRIBUTE_BLOCK
                                          : MPI_DISTRIBUTE_CYCLIC;
}

MPI_Datatype make_darray(TypeTree const& tree, MPI_Datatype part) {
    std::vector<int> ints = tree.ints;
    int const n = ints[2];
    int* const sizes = ints.data() + 3;
    for (int i = 0; i < n; ++i) {
        sizes[n + i] = word_of(sizes[n + i]);
        if (sizes[2 * n + i] == default_argument) sizes[2 * n + i] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(ints[0], ints[1], n, sizes, sizes + n, sizes + 2 * n, sizes + 3 * n,
                           tree.c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part, &made);
    return made;
}

MPI_Datatype make_structure(TypeTree const& tree, std::vector<MPI_Datatype> const& parts) {
    auto const places = addresses(tree.places);
    std::vector<MPI_Datatype> members(static_cast<std::size_t>(tree.ints[0]));
    for (std::size_t i = 0; i < members.size(); ++i)
        members[i] = parts[tree.which.empty() ? 0 : tree.which[i]];
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(tree.ints[0], tree.ints.data() + 1, places.data(), members.data(),
                           &made);
    return made;
}

/// Of constructors with one part and small numbers.
MPI_Datatype make_small(TypeTree const& tree, MPI_Datatype part) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int const* const ints = tree.ints.data();
    auto const places = addresses(tree.places);
    switch (tree.maker) {
    case Maker::dup:
        MPI_Type_dup(part, &made);
        break;
    case Maker::contiguous:
        MPI_Type_contiguous(ints[0], part, &made);
        break;
    case Maker::vector:
        MPI_Type_vector(ints[0], ints[1], ints[2], part, &made);
        break;
    case Maker::hvector:
        MPI_Type_create_hvector(ints[0], ints[1], places[0], part, &made);
        break;
    case Maker::indexed:
        MPI_Type_indexed(ints[0], ints + 1, ints + 1 + ints[0], part, &made);
        break;
    case Maker::hindexed:
        MPI_Type_create_hindexed(ints[0], ints + 1, places.data(), part, &made);
        break;
    case Maker::indexed_block:
        MPI_Type_create_indexed_block(ints[0], ints[1], ints + 2, part, &made);
        break;
    case Maker::hindexed_block:
        MPI_Type_create_hindexed_block(ints[0], ints[1], places.data(), part, &made);
        break;
    case Maker::subarray:
        MPI_Type_create_subarray(ints[0], ints + 1, ints + 1 + ints[0], ints + 1 + 2 * ints[0],
                                 tree.c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part, &made);
        break;
    case Maker::resized:
        MPI_Type_create_resized(part, places[0], places[1], &made);
        break;
    case Maker::darray:
        return make_darray(tree, part);
    default:
        break;
    }
    return made;
}

}  // namespace

Datatypes::~Datatypes() {
    for (MPI_Datatype& type : owned_) MPI_Type_free(&type);
}

/// The bounds are made as they were: padding depends on the MPI and the compiler.
MPI_Datatype Datatypes::make(TypeTree const& tree) {
    auto const known = made_.find(&tree);
    if (known != made_.end()) return known->second;
    MPI_Datatype made = tree.maker == Maker::element ? element_of(tree) : MPI_DATATYPE_NULL;
    if (made == MPI_DATATYPE_NULL) {
        std::vector<MPI_Datatype> parts;
        for (auto const& part : tree.parts) parts.push_back(make(*part));
        bool const small = tree.counts.empty() && !parts.empty();
        if (small && tree.maker == Maker::structure)
            made = make_structure(tree, parts);
        else
            made = small ? make_small(tree, parts.front()) : from_pieces(tree);
        owned_.push_back(made);
    }
    MPI_Count lower = 0, extent = 0;
    MPI_Type_get_extent_x(made, &lower, &extent);
    if (tree.bounded && (lower != tree.lower || extent != tree.extent)) {
        MPI_Datatype resized = MPI_DATATYPE_NULL;
        MPI_Type_create_resized(made, tree.lower, tree.extent, &resized);
        owned_.push_back(made = resized);
    }
    return made_[&tree] = made;
}

MPI_Datatype Datatypes::get(std::int64_t number) {
    auto const known = committed_.find(number);
    if (known != committed_.end()) return known->second;
    record::Types::Type const* const type = types_.find(number);
    if (!type) end_job("sluice replay: the log names a datatype that it does not describe");
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (type->tree) {
        made = make(*type->tree);
    } else {
        MPI_Type_contiguous(static_cast<int>(type->size), MPI_BYTE, &made);
        owned_.push_back(made);
    }
    MPI_Type_commit(&made);
    return committed_[number] = made;
}

Communicators::~Communicators() {
    for (auto& [number, communicator] : made_)
        if (communicator != MPI_COMM_WORLD && communicator != MPI_COMM_SELF)
            MPI_Comm_free(&communicator);
}

MPI_Comm Communicators::get(std::int64_t number, std::vector<std::int64_t> const& world_ranks) {
    auto const known = made_.find(number);
    if (known != made_.end()) return known->second;
    int ranks = 0, self = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    std::vector<int> const list(world_ranks.begin(), world_ranks.end());
    bool in_order = std::ssize(list) == ranks;
    for (std::size_t i = 0; in_order && i < list.size(); ++i)
        in_order = list[i] == static_cast<int>(i);
    MPI_Comm made = MPI_COMM_WORLD;
    if (list == std::vector<int>{self} && ranks > 1) {
        made = MPI_COMM_SELF;
    } else if (!in_order) {
        MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, static_cast<int>(list.size()), list.data(), &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &made);
        MPI_Group_free(&group);
        MPI_Group_free(&world);
    }
    return made_[number] = made;
}

}  // namespace sluice::replay
