// Checking and flattening. See view.hpp.
#include "api/view.hpp"

#include "api/access.hpp"
#include "api/environment.hpp"

#include <cstring>

namespace sluice {
namespace {

/// Offsets within one filetype may not decrease (MPI-4.1, 14.3).
bool decreases(Layout const& layout) {
    Offset reached = 0;
    bool found = false;
    layout.for_each_run([&](Run const& run) {
        found |= run.offset < reached || (run.count > 1 && run.stride < run.length);
        reached = run.last_begin() + run.length;
    });
    return found;
}

bool is_large(Layout const& layout) {
    return layout.piece_count(0, layout.tile_bytes()) > settings().view_pieces;
}

void read_representation(char const* name, FileView& view) {
    bool const native = std::strcmp(name, "native") == 0 || std::strcmp(name, "internal") == 0;
    bool const external = std::strcmp(name, "external32") == 0;
    view.representation = external ? Representation::external32 : Representation::native;
    view.known = native || external;
}

}  // namespace

MPI_Datatype duplicate(MPI_Datatype type) {
    if (is_named(type)) return type;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    PMPI_Type_dup(type, &made);
    return made;
}

ViewTypes::ViewTypes(MPI_Datatype its_etype, MPI_Datatype its_filetype)
    : etype(duplicate(its_etype)),
      filetype(duplicate(its_filetype)) {}

ViewTypes::~ViewTypes() {
    if (!is_named(etype)) PMPI_Type_free(&etype);
    if (!is_named(filetype)) PMPI_Type_free(&filetype);
}

Status read_view(Team const& team, ViewArguments const& a, FileView& view) {
    read_representation(a.representation, view);
    if (Status const s = check_type(team, a.etype); s != Status::ok) return s;
    if (Status const s = check_type(team, a.filetype); s != Status::ok) return s;
    if (a.displacement < 0) return Status::argument;
    Bytes const unit = size_of(a.etype, view.representation);
    if (unit <= 0 || size_of(a.filetype, view.representation) % unit != 0) return Status::argument;
    view.displacement = a.displacement;
    view.etype_bytes = unit;
    view.filetype = flatten(a.filetype, view.representation);
    if (!view.filetype) return Status::unsupported;
    if (decreases(*view.filetype)) return Status::argument;
    if (!view.known) return Status::unsupported;
    if (is_large(*view.filetype)) view.owned = std::make_shared<ViewTypes>(a.etype, a.filetype);
    return Status::ok;
}

StandIn::StandIn(FileView const& view) {
    if (!view.owned) return;
    PMPI_Type_contiguous(static_cast<int>(view.etype_bytes), MPI_BYTE, &type_);
    PMPI_Type_commit(&type_);
}

StandIn::~StandIn() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

Offset byte_offset(View const& view, MPI_Offset offset) noexcept {
    return view.displacement + view.filetype->offset_at(offset * view.etype_bytes);
}

MPI_Offset etypes_before(View const& view, Offset file_bytes) noexcept {
    if (file_bytes <= view.displacement || view.filetype->tile_bytes() == 0) return 0;
    Bytes const bytes = view.filetype->position_at_or_after(file_bytes - view.displacement);
    return (bytes + view.etype_bytes - 1) / view.etype_bytes;
}

}  // namespace sluice
