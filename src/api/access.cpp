// Capturing of arguments: the view, the position and the datatypes as they are now. See access.hpp.
#include "api/access.hpp"

#include "api/datatype.hpp"
#include "api/errors.hpp"

namespace sluice {
namespace {

Status check(File const& file, AccessArguments const& a) {
    if (a.count < 0) return Status::count;
    if (Status const status = check_type(*file.team, a.type); status != Status::ok) return status;
    if (a.explicit_offset && a.offset < 0) return Status::argument;
    bool const writes = a.direction == Direction::write;
    if (writes && (file.amode & MPI_MODE_RDONLY)) return Status::read_only;
    if (!writes && (file.amode & MPI_MODE_WRONLY)) return Status::amode;
    if (a.count * size_of(a.type) % file.view.etype_bytes != 0) return Status::argument;
    if (a.count * size_of(a.type) > 0 && file.view.filetype->tile_bytes() == 0)
        return Status::argument;
    return Status::ok;
}

/// Where the access begins, in bytes of the view's stream. The individual pointer lives in the MPI,
/// so that independent calls, which the MPI serves, see the same one; it moves now.
Bytes take_position(File const& file, AccessArguments const& a, Bytes bytes) {
    if (a.explicit_offset) return a.offset * file.view.etype_bytes;
    MPI_Offset position = 0;
    PMPI_File_get_position(file.handle, &position);
    PMPI_File_seek(file.handle, position + bytes / file.view.etype_bytes, MPI_SEEK_SET);
    return position * file.view.etype_bytes;
}

Call make_call(File const& file, AccessArguments const& a) {
    Call call;
    call.status = check(file, a);
    call.request.direction = a.direction;
    if (call.status != Status::ok) return call;
    call.user = static_cast<std::byte*>(a.buffer);
    call.request.view = file.view;
    call.request.bytes = a.count * size_of(a.type);
    call.request.memory = flatten(a.type);
    if (!call.request.memory) {
        call.status = Status::unsupported;
        call.request.bytes = 0;
        call.request.memory = Layout::contiguous();
        return call;
    }
    call.request.position = take_position(file, a, call.request.bytes);
    return call;
}

}  // namespace

Status check_type(Team const& team, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return Status::type;
    if (type == MPI_BYTE || type == MPI_CHAR || type == MPI_INT || type == MPI_DOUBLE ||
        type == MPI_FLOAT) {
        return Status::ok;
    }
    // No call asks whether a type is committed, but a send to nobody refuses others, and reads no
    // memory. (MPICH does not look at the type when the count is zero.)
    char nothing = 0;
    int const code = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, team.communicator);
    return code == MPI_SUCCESS ? Status::ok : Status::type;
}

int access_blocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    MPI_Status* status) {
    double const began = SteadyClock().now();
    Call call = make_call(*file, arguments);
    call.may_block = true;
    auto const operation = file->start(std::move(call), false);
    file->wait(*operation);
    set_status(status, operation->bytes());
    file->completed(*operation);
    file->blocked(SteadyClock().now() - began);
    return raise(file->handle, operation->status());
}

int access_nonblocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request) {
    double const began = SteadyClock().now();
    reap(false);
    *request = make_request(file->start(make_call(*file, arguments), true), file);
    file->blocked(SteadyClock().now() - began);
    return MPI_SUCCESS;
}

}  // namespace sluice
