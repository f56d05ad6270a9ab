// Capturing of arguments: the view, the position and the datatypes as they are now. See access.hpp.
#include "api/access.hpp"

#include "api/errors.hpp"
#include "api/requests.hpp"
#include "run/transfers.hpp"

namespace sluice {
namespace {

Status check(File const& file, AccessArguments const& a) {
    if (a.count < 0) return Status::count;
    if (Status const status = check_type(*file.team, a.type); status != Status::ok) return status;
    if (a.explicit_offset && a.offset < 0) return Status::argument;
    bool const writes = a.direction == Direction::write;
    if (writes && (file.amode & MPI_MODE_RDONLY)) return Status::read_only;
    if (!writes && (file.amode & MPI_MODE_WRONLY)) return Status::amode;
    Bytes const bytes = a.count * size_of(a.type, file.view.representation);
    if (bytes % file.view.etype_bytes != 0) return Status::argument;
    if (bytes > 0 && file.view.filetype->tile_bytes() == 0) return Status::argument;
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

bool needs_image(File const& file, AccessArguments const& a) {
    return file.view.representation != Representation::native || is_device_memory(a.buffer);
}

/// The call as it is without bytes: the rank takes part, and tells why it brings nothing.
void refuse(Call& call, Status status) {
    call.status = status;
    call.request.bytes = 0;
    call.request.memory = Layout::contiguous();
}

/// Prepares the call's memory: the program's own, or an image of it.
Status prepare_memory(File const& file, AccessArguments const& a, Call& call,
                      std::unique_ptr<Image>& image) {
    call.user = static_cast<std::byte*>(a.buffer);
    if (needs_image(file, a)) {
        image = std::make_unique<Image>(ImageSource{
            a.buffer, a.count, a.type, file.view.representation, file.team->communicator});
        call.user = image->data();
        call.request.bytes = image->bytes();
        return a.direction == Direction::write ? image->pack() : Status::ok;
    }
    call.request.bytes = a.count * size_of(a.type);
    call.request.memory = flatten(a.type);
    return call.request.memory ? Status::ok : Status::unsupported;
}

Call make_call(File const& file, AccessArguments const& a, std::unique_ptr<Image>& image) {
    Call call;
    call.request.direction = a.direction;
    call.request.view = file.view;
    call.request.atomic = file.atomic;
    Status status = check(file, a);
    if (status == Status::ok) status = prepare_memory(file, a, call, image);
    if (status == Status::ok)
        call.request.position = take_position(file, a, call.request.bytes);
    else
        refuse(call, status);
    return call;
}

Access start_access(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    bool may_block) {
    Access access;
    access.file = file;
    Call call = make_call(*file, arguments, access.image);
    call.may_block = may_block;
    access.operation = file->start(std::move(call), !may_block);
    return access;
}

/// The end of an access that a call waits for. Returns the error class.
int finish_access(Access& access, MPI_Status* status) {
    access.file->wait(*access.operation);
    access.deliver();
    set_status(status, access.bytes());
    access.file->completed(*access.operation);
    return raise(access.file->handle, access.operation->status());
}

/// Counts the time from here to the end of the scope as blocked.
class BlockedTime {
public:
    explicit BlockedTime(File& file) : file_(file), began_(SteadyClock().now()) {}
    ~BlockedTime() { file_.blocked(SteadyClock().now() - began_); }
    BlockedTime(BlockedTime const&) = delete;
    BlockedTime& operator=(BlockedTime const&) = delete;

private:
    File& file_;
    double began_;
};

/// The transfer of an independent access, done.
struct Alone {
    Status status = Status::ok;
    Bytes bytes = 0;
};

Alone transfer_alone(File& file, AccessArguments const& arguments) {
    std::unique_ptr<Image> image;
    Call const call = make_call(file, arguments, image);
    if (call.status != Status::ok) return {call.status, 0};
    UserTransfer transfer(call.request, call.user);
    file.storage.run(transfer);
    if (transfer.status != Status::ok) return {transfer.status, 0};
    if (!image) return {Status::ok, transfer.bytes};
    if (arguments.direction == Direction::read) transfer.status = image->unpack(transfer.bytes);
    return {transfer.status, image->in_memory(transfer.bytes)};
}

}  // namespace

void Access::deliver() {
    if (!image || std::exchange(delivered, true)) return;
    bool const reads = operation->request().direction == Direction::read;
    if (reads && operation->status() == Status::ok) image->unpack(operation->bytes());
}

Bytes Access::bytes() const {
    Bytes const moved = operation->bytes();
    return image ? image->in_memory(moved) : moved;
}

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

void set_status(MPI_Status* status, Bytes bytes) {
    if (status == MPI_STATUS_IGNORE) return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

int access_blocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    MPI_Status* status) {
    BlockedTime const time(*file);
    Access access = start_access(file, arguments, true);
    return finish_access(access, status);
}

int access_nonblocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request) {
    BlockedTime const time(*file);
    reap(false);
    *request = make_request(start_access(file, arguments, false));
    return MPI_SUCCESS;
}

int access_begin(std::shared_ptr<File> const& file, AccessArguments const& arguments) {
    BlockedTime const time(*file);
    if (file->split) return raise(file->handle, Status::split);
    file->split = std::make_unique<Access>(start_access(file, arguments, false));
    return MPI_SUCCESS;
}

int access_end(std::shared_ptr<File> const& file, Direction direction, MPI_Status* status) {
    BlockedTime const time(*file);
    bool const matches = file->split && file->split->operation->request().direction == direction;
    if (!matches) return raise(file->handle, Status::split);
    auto const access = std::move(file->split);
    return finish_access(*access, status);
}

int access_alone(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                 MPI_Status* status) {
    auto const [result, bytes] = transfer_alone(*file, arguments);
    set_status(status, bytes);
    return raise(file->handle, result);
}

int access_alone(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                 MPI_Request* request) {
    auto const [result, bytes] = transfer_alone(*file, arguments);
    *request = make_complete_request(bytes);
    return raise(file->handle, result);
}

}  // namespace sluice
