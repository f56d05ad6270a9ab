// The library's MPI_File_ functions that are not data access, such as MPI_File_open and
// MPI_File_set_view. The MPI does what they ask for; before and after it the library drains
// operations, agrees with the other ranks and notes what has changed.
#include "mpi/errors.hpp"
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/access.hpp"
#include "mpi/file/closed_files.hpp"
#include "mpi/file/info_hints.hpp"
#include "mpi/file/new_file.hpp"
#include "mpi/file/pass_on.hpp"
#include "mpi/file/position.hpp"
#include "mpi/file/statistics.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/requests/requests.hpp"
#include "mpi/start/interposition.hpp"
#include "system/environment.hpp"
#include "transport/mpi_status.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace sluice {
namespace {

/// Whether files may be served at all. Says why not where that is a surprise, also where
/// MPI_Init passed this library by.
bool may_serve() {
    if (!settings().enabled || calls_arrive()) return settings().enabled;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tell_missed_calls(rank);
    return false;
}

/// What calls met after they had returned, and what other ranks met in independent writes that
/// their calls have delayed. Who was told of a collective write is not told again because another
/// rank is told only now. Blocking. Collective.
Status late_error_of_all(File& file) {
    LateErrors const mine = file.delayed->late_errors_and_journal();
    return file.delayed->ordered() ? agreed(mine.collective, file.agree(mine.own)) : mine.any();
}

/// The bytes of one rank may have been written by another: all must have flushed theirs.
Status flush(File& file) {
    file.drain();
    file.drop_read_ahead({0, endless});
    Status const all = file.agree("making bytes durable", file.storage->sync());
    return agreed(all, late_error_of_all(file));
}

/// Before a collective call of the MPI that must see what was written, and changes bytes of
/// `changed`.
void drain_for_mpi(File& file, Span changed = {}) {
    file.drain();
    file.drop_read_ahead({0, endless});
    file.delayed->wait_for({0, endless}, Before::sync);
    file.delayed->wait_for(changed, Before::write);
}
void drain_for_mpi(MPI_File handle, Span changed = {}) {
    auto const file = find_file(handle);
    file ? drain_for_mpi(*file, changed) : Delayed::wait_for_all();
}

/// Of both what Sluice and what the MPI has written. `code` is what the MPI says.
Status sync(File& file, int& code) {
    Status const own = flush(file);
    code = SLUICE_PMPI(MPI_File_sync)(file.handle);
    return own;
}

/// Where all ranks are on one node a call that is complete has its bytes in the node's page cache,
/// whichever rank moved them, and one rank's flush is of all. ROMIO waits for no other rank either,
/// and programs rely on that.
bool syncs_alone(File const& file) { return file.team->topology->node_count() == 1; }

Status sync_alone(File& file) {
    file.drain();
    file.drop_read_ahead({0, endless});
    Error const flushed = file.storage->sync();
    file.log("making bytes durable", flushed);
    return agreed(flushed.status, file.delayed->late_errors_and_journal().any());
}

Status make_durable(File& file) {
    int code = MPI_SUCCESS;
    if (file.amode & MPI_MODE_RDONLY) return Status::ok;
    Status const own = sync(file, code);
    Error const of_mpi = mpi_error("MPI_File_sync", code);
    file.log("closing of a durable file", of_mpi);
    return agreed(own, of_mpi.status);
}

/// What a close tells of earlier writes comes to all ranks where the file system is one that may
/// tell late. Collective there, blocks.
Status release_storage_of_all(File& file) {
    Status const mine = file.release_storage();
    return file.tells_late ? file.agree_beside(mine) : mine;
}

int close(File& file, MPI_File* handle) {
    Status flushed = file.hints.close == Close::durable ? make_durable(file) : Status::ok;
    drain_for_mpi(file);
    flushed = agreed(flushed, late_error_of_all(file));
    file.split.reset();
    reap(false);
    collect_statistics(file);
    file.delayed->forget();
    flushed = agreed(flushed, release_storage_of_all(file));
    remove_file(*handle);
    int const error = raise(file.handle, flushed);  // The MPI's file has its handler until now.
    file.release_queue();
    int const code = SLUICE_PMPI(MPI_File_close)(handle);
    return code == MPI_SUCCESS ? error : code;
}

/// The bytes before `size` may be written later as well.
void drain_for_size(MPI_File handle, MPI_Offset size) {
    auto const file = find_file(handle);
    Span const changed{std::max(size, MPI_Offset{0}), endless};
    if (!file || !file->delayed->ordered()) return drain_for_mpi(handle, changed);
    file->drain_requests();
    file->drop_read_ahead({0, endless});
    file->delayed->wait_for(changed, Before::write);
}

int set_view(File& file, ViewArguments const& a, MPI_Info info) {
    // A negative displacement or a wrong type on one rank must not leave the others waiting.
    FileView view;
    bool const writable = (file.amode & MPI_MODE_RDONLY) == 0;
    Status const mine = read_view(file.team->communicator, a, writable, view);
    bool const passes = mine == Status::unsupported;  // The MPI serves it, or tells why not.
    if (!passes) file.log("MPI_File_set_view", {.status = mine});
    Status const all = file.agree_beside(mine);
    if (all != Status::ok && all != Status::unsupported) return raise(file.handle, all);
    // All have met: nobody uses the pointer as it was (MPI-4.1, 14.3: it is zero then).
    if (file.shared_pointer()) file.shared_pointer()->restart();
    view.known = all == Status::ok;
    if (!view.known) view.owned.reset();  // Another rank cannot read its view: the MPI has all.
    OwnHints const own(info, file.hints);
    StandIn const stand_in(view);
    // Open MPI knows no "internal".
    char const* const for_mpi = view.owned || view.internal ? "native" : a.representation;
    int const code = SLUICE_PMPI(MPI_File_set_view)(
        file.handle, a.displacement, view.owned ? stand_in.type() : a.etype,
        view.owned ? stand_in.type() : a.filetype, for_mpi, ExactHints(own.for_mpi, file).info());
    if (code != MPI_SUCCESS) return code;
    file.exact = true;
    file.set_hints(own.hints);
    file.view = view;
    return code;
}

/// Not left to the MPI: Open MPI's writes garbage into the new part, and leaves a message behind
/// that the next file trips over.
Status preallocate(File& file, MPI_Offset size) {
    file.drain();
    file.delayed->wait_for({0, endless}, Before::sync);
    if (file.amode & MPI_MODE_RDONLY)
        return file.agree("MPI_File_preallocate", {.status = Status::read_only});
    if (size < 0)
        return file.agree("MPI_File_preallocate",
                          {.status = Status::argument, .what = "the size is negative"});
    bool const acts = file.team->self == 0;
    return file.agree("MPI_File_preallocate", acts ? file.storage->preallocate(size) : Error{});
}

int get_view(File const& file, MPI_Offset* displacement, MPI_Datatype* etype,
             MPI_Datatype* filetype, char* representation) {
    *displacement = file.view.displacement;
    *etype = duplicate(file.view.owned->etype);
    *filetype = duplicate(file.view.owned->filetype);
    bool const external = file.view.representation == Representation::external32;
    std::strcpy(representation, external             ? "external32"
                                : file.view.internal ? "internal"
                                                     : "native");
    return MPI_SUCCESS;
}

/// The extent in the file's representation. The MPIs tell the one in memory.
template <class Extent, class Pass>
int get_type_extent(MPI_File handle, MPI_Datatype type, Extent* extent, Pass&& pass) {
    auto const file = find_file(handle);
    bool const native = !file || !file->served() || type == MPI_DATATYPE_NULL ||
                        file->view.representation == Representation::native;
    auto const found = native ? std::nullopt : file_extent_of(type, file->view.representation);
    if (!found) return pass();
    *extent = *found;
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace sluice

using sluice::Status;
using sluice::record::LoggedCall;
using sluice::record::Recorded;
using sluice::record::recorded_call;

extern "C" {

int MPI_File_open(MPI_Comm comm, char const* filename, int amode, MPI_Info info, MPI_File* fh) try {
    auto const write = [=](LoggedCall& call) { call.open(comm, filename, amode, info, *fh); };
    Recorded const recorded(write);
    SLUICE_TRACED(MPI_File_open);
    if (!sluice::may_serve()) {
        return SLUICE_PMPI(MPI_File_open)(comm, filename, amode, info, fh);
    }
    sluice::OwnHints const own(info, sluice::settings().hints);
    sluice::stripe_new_file(comm, filename, amode, info, own.hints);
    int const code = SLUICE_PMPI(MPI_File_open)(comm, filename, amode, own.for_mpi, fh);
    if (code == MPI_SUCCESS) sluice::register_file(comm, filename, amode, own.hints, *fh);
    return code;
}
SLUICE_NO_MEMORY(MPI_FILE_NULL)

int MPI_File_close(MPI_File* fh) try {
    auto const recorded = recorded_call("close", *fh);
    SLUICE_TRACED(MPI_File_close);
    auto const file = sluice::find_file(*fh);
    if (file && file->closes_behind()) return sluice::close_behind(file, fh);
    if (file) return sluice::close(*file, fh);
    sluice::remove_file(*fh);
    return SLUICE_PMPI(MPI_File_close)(fh);
}
SLUICE_NO_MEMORY(*fh)

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      char const* datarep, MPI_Info info) try {
    Recorded const recorded(
        [=](LoggedCall& call) { call.set_view(fh, {disp, etype, filetype, datarep}, info); });
    SLUICE_TRACED(MPI_File_set_view);
    auto const file = sluice::find_file(fh);
    if (!file) {
        // Another handle of the same file may be served.
        std::optional<sluice::ExactHints> exact;
        if (sluice::is_left_by_all(fh)) exact.emplace(info);
        return SLUICE_PMPI(MPI_File_set_view)(fh, disp, etype, filetype, datarep,
                                              exact ? exact->info() : info);
    }
    return sluice::set_view(*file, {disp, etype, filetype, datarep}, info);
}
SLUICE_NO_MEMORY(fh)

/// Only for the log: the MPI deletes files by itself.
int MPI_File_delete(char const* filename, MPI_Info info) {
    Recorded const recorded([=](LoggedCall& call) { call.delete_file(filename, info); });
    return SLUICE_PMPI(MPI_File_delete)(filename, info);
}

int MPI_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                      char* datarep) try {
    auto const file = sluice::find_file(fh);
    if (file && file->view.owned) return sluice::get_view(*file, disp, etype, filetype, datarep);
    int const code = SLUICE_PMPI(MPI_File_get_view)(fh, disp, etype, filetype, datarep);
    if (code == MPI_SUCCESS && file && file->view.internal) std::strcpy(datarep, "internal");
    return code;
}
SLUICE_NO_MEMORY(fh)

int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) try {
    auto const file = sluice::find_file(fh);
    if (!file || !file->view.owned) return SLUICE_PMPI(MPI_File_get_byte_offset)(fh, offset, disp);
    auto const found = sluice::byte_offset(file->view, offset);
    if (!found) return sluice::raise(fh, Status::argument);
    *disp = *found;
    return MPI_SUCCESS;
}
SLUICE_NO_MEMORY(fh)

int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype type, MPI_Aint* extent) try {
    return sluice::get_type_extent(
        fh, type, extent, [&] { return SLUICE_PMPI(MPI_File_get_type_extent)(fh, type, extent); });
}
SLUICE_NO_MEMORY(fh)

#ifdef SLUICE_HAVE_LARGE_COUNT
int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype type, MPI_Count* extent) try {
    return sluice::get_type_extent(fh, type, extent, [&] {
        return SLUICE_PMPI(MPI_File_get_type_extent_c)(fh, type, extent);
    });
}
SLUICE_NO_MEMORY(fh)
#endif

int MPI_File_get_size(MPI_File fh, MPI_Offset* size) try {
    return sluice::length(fh, sluice::find_file(fh), size);
}
SLUICE_NO_MEMORY(fh)

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) try {
    auto const recorded = sluice::record::recorded_seek("seek", fh, offset, whence);
    auto const file = sluice::find_file(fh);
    if (!file) {
        if (whence == MPI_SEEK_END) wait_for_delayed(file);
        return SLUICE_PMPI(MPI_File_seek)(fh, offset, whence);
    }
    sluice::PointerLock const lock(*file);
    return sluice::seek(file, offset, whence);
}
SLUICE_NO_MEMORY(fh)

int MPI_File_set_info(MPI_File fh, MPI_Info info) try {
    Recorded const recorded([=](LoggedCall& call) { call.set_info(fh, info); });
    SLUICE_TRACED(MPI_File_set_info);
    auto const file = sluice::find_file(fh);
    if (!file) return SLUICE_PMPI(MPI_File_set_info)(fh, info);
    sluice::OwnHints const own(info, file->hints);
    int const code =
        SLUICE_PMPI(MPI_File_set_info)(fh, sluice::ExactHints(own.for_mpi, *file).info());
    if (code != MPI_SUCCESS) return code;
    file->exact = true;
    file->set_hints(own.hints);
    return code;
}
SLUICE_NO_MEMORY(fh)

int MPI_File_get_info(MPI_File fh, MPI_Info* info) try {
    int const code = SLUICE_PMPI(MPI_File_get_info)(fh, info);
    auto const file = sluice::find_file(fh);
    if (!file || code != MPI_SUCCESS) return code;
    for (auto const& [name, value] : file->hints_in_force()) {
        PMPI_Info_set(*info, name.c_str(), value.c_str());
    }
    return code;
}
SLUICE_NO_MEMORY(fh)

int MPI_File_set_atomicity(MPI_File fh, int flag) try {
    auto const recorded = recorded_call("set_atomicity", fh, "flag", flag);
    SLUICE_TRACED(MPI_File_set_atomicity);
    auto const file = sluice::find_file(fh);
    sluice::drain_for_mpi(fh);
    int const code = SLUICE_PMPI(MPI_File_set_atomicity)(fh, flag);
    if (code == MPI_SUCCESS && file) file->atomic = flag != 0;
    return code;
}
SLUICE_NO_MEMORY(fh)

int MPI_File_set_size(MPI_File fh, MPI_Offset size) try {
    auto const recorded = recorded_call("set_size", fh, "size", size);
    SLUICE_TRACED(MPI_File_set_size);
    sluice::drain_for_size(fh, size);
    return SLUICE_PMPI(MPI_File_set_size)(fh, size);
}
SLUICE_NO_MEMORY(fh)

int MPI_File_preallocate(MPI_File fh, MPI_Offset size) try {
    auto const recorded = recorded_call("preallocate", fh, "size", size);
    SLUICE_TRACED(MPI_File_preallocate);
    auto const file = sluice::find_file(fh);
    if (!file) return SLUICE_PMPI(MPI_File_preallocate)(fh, size);
    return sluice::raise(fh, sluice::preallocate(*file, size));
}
SLUICE_NO_MEMORY(fh)

int MPI_File_sync(MPI_File fh) try {
    auto const recorded = recorded_call("sync", fh);
    SLUICE_TRACED(MPI_File_sync);
    auto const file = sluice::find_file(fh);
    if (!file) return SLUICE_PMPI(MPI_File_sync)(fh);
    int code = MPI_SUCCESS;
    Status const all =
        sluice::syncs_alone(*file) ? sluice::sync_alone(*file) : sluice::sync(*file, code);
    return all != Status::ok ? sluice::raise(fh, all) : code;
}
SLUICE_NO_MEMORY(fh)

}  // extern "C"
