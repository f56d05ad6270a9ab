// How views are checked and flattened. See view.hpp.
#include "mpi/file/view.hpp"

#include "mpi/datatype/datatype.hpp"
#include "mpi/file/access.hpp"
#include "system/environment.hpp"

#include <cstring>

namespace sluice {
namespace {

/// How the pieces of an etype or a filetype follow each other.
struct Order {
    bool decreases = false;  ///< Or begins at a negative displacement: never legal.
    bool overlaps = false;   ///< Legal where the file is opened for reading only.
};

/// Displacements may not decrease, and pieces may not overlap where the file is opened for writing
/// (MPI-4.1, 14.3).
Order order_of(Layout const& layout) {
    Order order;
    Offset begin = 0, reached = 0;
    layout.for_each_run([&](Run const& run) {
        order.decreases |= run.offset < begin || (run.count > 1 && run.stride < 0);
        order.overlaps |= run.offset < reached || (run.count > 1 && run.stride < run.length);
        begin = run.last_begin();
        reached = std::max(reached, begin + run.length);
    });
    return order;
}

Order operator|(Order a, Order b) noexcept {
    return {a.decreases || b.decreases, a.overlaps || b.overlaps};
}

bool is_large(Layout const& layout) {
    return layout.piece_count(0, layout.tile_bytes()) > settings().view_pieces;
}

}  // namespace

void read_representation(char const* name, FileView& view) {
    view.internal = std::strcmp(name, "internal") == 0;
    bool const native = view.internal || std::strcmp(name, "native") == 0;
    bool const external = std::strcmp(name, "external32") == 0;
    view.representation = external ? Representation::external32 : Representation::native;
    view.known = native || external;
}

MPI_Datatype duplicate(MPI_Datatype type) {
    if (is_predefined(type)) return type;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    PMPI_Type_dup(type, &made);
    return made;
}

ViewTypes::ViewTypes(MPI_Datatype its_etype, MPI_Datatype its_filetype)
    : etype(duplicate(its_etype)),
      filetype(duplicate(its_filetype)) {}

ViewTypes::~ViewTypes() {
    if (!is_predefined(etype)) PMPI_Type_free(&etype);
    if (!is_predefined(filetype)) PMPI_Type_free(&filetype);
}

Status read_view(MPI_Comm own, ViewArguments const& a, bool writable, FileView& view) {
    read_representation(a.representation, view);
    if (Status const s = check_type(a.etype, own); s != Status::ok) return s;
    if (Status const s = check_type(a.filetype, own); s != Status::ok) return s;
    if (a.displacement < 0 || a.displacement > offset_limit) return Status::argument;
    auto const unit = file_bytes_of(a.etype, view.representation);
    auto const bytes = file_bytes_of(a.filetype, view.representation);
    if (!unit || !bytes) return Status::unsupported;
    if (*unit <= 0 || *bytes % *unit != 0) return Status::argument;
    view.displacement = a.displacement;
    view.etype_bytes = *unit;
    view.filetype = flatten(a.filetype, view.representation);
    if (!view.filetype) return Status::unsupported;
    // The filetype does not tell how the parts of an etype follow each other.
    auto const etype =
        is_predefined(a.etype) ? view.filetype : flatten(a.etype, view.representation);
    if (!etype) return Status::unsupported;
    Order const order = order_of(*view.filetype) | order_of(*etype);
    if (order.decreases || (writable && order.overlaps)) return Status::type;
    if (!view.known) return Status::unsupported;
    // Open MPI refuses overlaps, and ROMIO takes the wrong one of two positions of an offset.
    bool const repeats = order.overlaps || (!writable && !view.filetype->is_ascending());
    bool const alike = is_alike_in_mpi(a.etype, view.representation) &&
                       is_alike_in_mpi(a.filetype, view.representation);
    if (repeats || !alike || is_large(*view.filetype))
        view.owned = std::make_shared<ViewTypes>(a.etype, a.filetype);
    return Status::ok;
}

StandIn::StandIn(FileView const& view) {
    if (view.owned) type_ = contiguous_bytes(view.etype_bytes);
}

StandIn::~StandIn() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

std::optional<Offset> byte_offset(View const& view, MPI_Offset offset) noexcept {
    Bytes position = 0;
    if (__builtin_mul_overflow(offset, view.etype_bytes, &position) ||
        !is_in_range(*view.filetype, view.displacement, position, 1, 0)) {
        return std::nullopt;
    }
    return view.displacement + view.filetype->offset_at(position);
}

MPI_Offset etypes_before(View const& view, Offset file_bytes) noexcept {
    if (file_bytes <= view.displacement || view.filetype->tile_bytes() == 0) return 0;
    Bytes const bytes = view.filetype->position_at_or_after(file_bytes - view.displacement);
    return (bytes + view.etype_bytes - 1) / view.etype_bytes;
}

}  // namespace sluice
