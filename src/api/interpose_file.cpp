// File functions that are not data access: what keeps this library's idea of a file consistent with
// the MPI's. The MPI does the work; these functions watch, drain and agree.
#include "api/access.hpp"
#include "api/datatype.hpp"
#include "api/environment.hpp"
#include "api/errors.hpp"
#include "api/statistics.hpp"

#include <cstring>

namespace sluice {
namespace {

bool known_representation(char const* name) {
    return std::strcmp(name, "native") == 0 || std::strcmp(name, "internal") == 0;
}

/// Offsets within one filetype may not decrease (MPI-4.1, 14.3).
bool decreases(Layout const& layout) {
    Offset reached = 0;
    for (Run const& run : layout.runs()) {
        if (run.offset < reached || (run.count > 1 && run.stride < run.length)) return true;
        reached = run.last_begin() + run.length;
    }
    return false;
}

/// What one rank can say of its arguments before anybody acts on them.
Status check_view(File const& file, MPI_Offset displacement, MPI_Datatype etype,
                  MPI_Datatype filetype, std::shared_ptr<Layout const>& flat) {
    if (Status const s = check_type(*file.team, etype); s != Status::ok) return s;
    if (Status const s = check_type(*file.team, filetype); s != Status::ok) return s;
    if (displacement < 0) return Status::argument;
    Bytes const unit = size_of(etype);
    if (unit <= 0 || size_of(filetype) % unit != 0) return Status::argument;
    flat = flatten(filetype);
    if (!flat) return Status::unsupported;
    return decreases(*flat) ? Status::argument : Status::ok;
}

}  // namespace
}  // namespace sluice

using sluice::Status;

extern "C" {

int MPI_File_open(MPI_Comm comm, char const* filename, int amode, MPI_Info info, MPI_File* fh) {
    if (!sluice::settings().enabled) return PMPI_File_open(comm, filename, amode, info, fh);
    sluice::OwnHints const own(info, {});
    int const code = PMPI_File_open(comm, filename, amode, own.for_mpi, fh);
    if (code == MPI_SUCCESS) sluice::register_file(comm, filename, amode, own.hints, *fh);
    return code;
}

int MPI_File_close(MPI_File* fh) {
    if (auto const file = sluice::find_file(*fh)) {
        file->drain();
        sluice::reap(false);
        sluice::collect_statistics(*file);
        sluice::remove_file(*fh);
        file->release_stream();
    }
    return PMPI_File_close(fh);
}

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      char const* datarep, MPI_Info info) {
    auto const file = sluice::find_file(fh);
    if (!file) return PMPI_File_set_view(fh, disp, etype, filetype, datarep, info);
    // A negative displacement or a wrong type on one rank must not leave the others waiting.
    std::shared_ptr<sluice::Layout const> flat;
    Status const mine = sluice::check_view(*file, disp, etype, filetype, flat);
    Status const all = file->agree(mine);
    bool const flattened = all != Status::unsupported;  // On every rank.
    if (all != Status::ok && flattened) return sluice::raise(fh, all);
    sluice::OwnHints const own(info, file->hints);
    int const code = PMPI_File_set_view(fh, disp, etype, filetype, datarep, own.for_mpi);
    if (code != MPI_SUCCESS) return code;
    file->hints = own.hints;
    file->view_served = flattened && sluice::known_representation(datarep);
    if (file->view_served) file->view = {disp, flat, sluice::size_of(etype)};
    return code;
}

int MPI_File_set_info(MPI_File fh, MPI_Info info) {
    auto const file = sluice::find_file(fh);
    if (!file) return PMPI_File_set_info(fh, info);
    sluice::OwnHints const own(info, file->hints);
    int const code = PMPI_File_set_info(fh, own.for_mpi);
    if (code == MPI_SUCCESS) file->hints = own.hints;
    return code;
}

int MPI_File_set_atomicity(MPI_File fh, int flag) {
    auto const file = sluice::find_file(fh);
    if (file) file->drain();
    int const code = PMPI_File_set_atomicity(fh, flag);
    if (file && code == MPI_SUCCESS) file->atomic = flag != 0;
    return code;
}

int MPI_File_set_size(MPI_File fh, MPI_Offset size) {
    if (auto const file = sluice::find_file(fh)) file->drain();
    return PMPI_File_set_size(fh, size);
}

int MPI_File_preallocate(MPI_File fh, MPI_Offset size) {
    if (auto const file = sluice::find_file(fh)) file->drain();
    return PMPI_File_preallocate(fh, size);
}

int MPI_File_sync(MPI_File fh) {
    auto const file = sluice::find_file(fh);
    if (!file) return PMPI_File_sync(fh);
    file->drain();
    // The bytes of this rank may have been written by another: all must have flushed theirs.
    Status const all = file->agree(file->storage.sync());
    int const code = PMPI_File_sync(fh);
    return all != Status::ok ? sluice::raise(fh, all) : code;
}

}  // extern "C"
