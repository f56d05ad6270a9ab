// How arguments are checked, and how the view, the position and the datatypes are captured as they
// are at the call. See access.hpp.
#include "mpi/file/access.hpp"

#include "file/plan/overlap.hpp"
#include "file/run/sieved_read.hpp"
#include "gpu/gpus.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/position.hpp"
#include "mpi/file/started_access.hpp"
#include "mpi/requests/requests.hpp"

namespace sluice {
namespace {

Error refusal(Status status, char const* why) noexcept { return {.status = status, .what = why}; }

/// The end of a copy wakes who waits for it.
void ring_by_copies() {
    static std::once_flag once;
    std::call_once(once, [] { ring_by([] { Progress::instance().ring(); }); });
}

/// Where the bytes of a call lie; the datatype is right. A buffer is one allocation; of MPI_BOTTOM
/// the datatype has addresses, which may lie in several memories.
UserMemory memory_of(AccessArguments const& a) {
    auto* const buffer = static_cast<std::byte*>(a.buffer);
    if (!has_gpu_driver()) return buffer;
    ring_by_copies();
    if (a.buffer == MPI_BOTTOM) return {buffer, &mixed_memory()};
    return {buffer, device_of_buffer(a)};
}

Error check(File const& file, FileView const& view, AccessArguments const& a) {
    if (a.count < 0) return refusal(Status::count, "the count is negative");
    if (Status const status = check_type(a.type, file.team->communicator); status != Status::ok)
        return refusal(status, "the datatype is null or not committed");
    if (a.from == From::offset && a.offset < 0)
        return refusal(Status::argument, "the offset is negative");
    bool const writes = a.direction == Direction::write;
    if (writes && (file.amode & MPI_MODE_RDONLY))
        return refusal(Status::read_only, "the file was opened with MPI_MODE_RDONLY");
    if (!writes && (file.amode & MPI_MODE_WRONLY))
        return refusal(Status::amode, "the file was opened with MPI_MODE_WRONLY");
    Bytes bytes = 0;
    auto const in_file = file_bytes_of(a.type, view.representation);
    if (!in_file)
        return refusal(Status::unsupported,
                       "the datatype has no form in the file's representation");
    Bytes const size = std::max(size_of(a.type), *in_file);
    if (__builtin_mul_overflow(a.count, size, &bytes) || bytes > offset_limit)
        return refusal(Status::count, "the count is of more bytes than offsets can say");
    bytes = a.count * *in_file;
    if (bytes % view.etype_bytes != 0)
        return refusal(Status::argument, "the bytes are not a multiple of the view's etype");
    if (bytes > 0 && view.filetype->tile_bytes() == 0)
        return refusal(Status::argument, "the view's filetype has no bytes");
    return {};
}

bool needs_conversion(FileView const& view) {
    return view.representation != Representation::native;
}

/// The call as it is without bytes: the rank takes part, and tells why it brings nothing.
void refuse(Call& call, Status status) {
    call.status = status;
    call.request.bytes = call.request.position = 0;
    call.request.memory = Layout::contiguous();
    call.find_memory = nullptr;
}

/// Takes the layout of the call's memory. A long list of pieces is left to the helper, as a type
/// tree: the program goes on meanwhile, and may free the datatype.
Status take_layout(MPI_Datatype type, Call& call) {
    auto const shape = shape_of(type);
    if (!shape) return Status::unsupported;
    if (!call.may_block && shape->is_costly()) {
        call.find_memory = [shape] { return shape->layout(); };
        return Status::ok;
    }
    call.request.memory = shape->layout();
    bool const fits = is_in_range(*call.request.memory, 0, 0, call.request.bytes, -offset_limit);
    return fits ? Status::ok : Status::count;
}

/// Describes the call's memory: the program's own, or an image of it.
Error describe_memory(FileView const& view, AccessArguments const& a, Call& call,
                      std::unique_ptr<ConversionBuffer>& conversion_buffer) {
    call.user = a.count > 0 ? memory_of(a) : UserMemory();
    if (needs_conversion(view)) {
        conversion_buffer =
            std::make_unique<ConversionBuffer>(ConversionSource{call.user, a.count, a.type});
        call.user = conversion_buffer->data();
        call.request.bytes = conversion_buffer->bytes();
        return a.direction == Direction::write ? conversion_buffer->pack() : Error();
    }
    call.request.bytes = a.count * size_of(a.type);
    return {.status = take_layout(a.type, call)};
}

/// Where there is no memory for it the rank takes part without bytes: the others wait for it.
Error prepare_memory(FileView const& view, AccessArguments const& a, Call& call,
                     std::unique_ptr<ConversionBuffer>& conversion_buffer) {
    try {
        return describe_memory(view, a, call, conversion_buffer);
    } catch (std::bad_alloc const&) {
        conversion_buffer.reset();
        return {.status = Status::no_memory};
    }
}

Call make_call(File const& file, FileView const& view, AccessArguments const& a, bool may_block,
               std::unique_ptr<ConversionBuffer>& conversion_buffer) {
    Call call;
    call.function = a.function;
    call.may_block = may_block;
    call.request.direction = a.direction;
    call.request.view = view;
    call.request.atomic = file.atomic;
    Error error = check(file, view, a);
    if (!error) error = prepare_memory(view, a, call, conversion_buffer);
    bool const in_order = a.from == From::shared_in_order;
    if (!error && !in_order) error.status = take_position(file, a.from, a.offset, call.request);
    file.log(describe(a.direction), error);
    // The other ranks wait for this one there.
    Status const status = in_order ? take_in_order(file, call.request, error.status) : error.status;
    if (status == Status::ok)
        separate_tiles(call.request);
    else
        refuse(call, status);
    return call;
}

/// Gaps of a read that cost less to read along than a request more would. A read takes whole
/// pieces where they are long, and tells by that length what a request costs.
Bytes gap_bytes(File const& file) {
    constexpr Bytes most = 64 * 1024;
    return std::min(most, file.storage->independent_piece_bytes(Direction::read) / 4);
}

/// What earlier calls have delayed comes first, and what was read ahead is not for ever.
void prepare_for(File& file, Request const& request, bool collective) {
    if (!file.delayed->minds_others()) return;
    bool const writes = request.direction == Direction::write;
    Span const reach = reach_of(request, file.is_beyond_end(request));
    file.delayed->wait_for(reach, writes ? Before::write : Before::read, collective);
    if (writes) file.drop_read_ahead(reach);
}

}  // namespace

Device* device_of_buffer(AccessArguments const& arguments) {
    if (!has_gpu_driver() || arguments.count == 0) return nullptr;
    MPI_Count begin = 0, extent = 0;
    PMPI_Type_get_true_extent_x(arguments.type, &begin, &extent);
    return device_of(static_cast<std::byte*>(arguments.buffer) + begin);
}

Access Access::collective(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                          Form form) {
    Access access;
    access.file = file;
    access.direction = arguments.direction;
    bool const waits = form == Form::blocking;
    bool const may_delay = file->delayed->ordered() && form != Form::nonblocking;
    Call call =
        make_call(*file, file->view, arguments, waits || may_delay, access.conversion_buffer_);
    prepare_for(*file, call.request, true);
    bool const converts = access.conversion_buffer_ != nullptr;
    // What an atomic read returns has to be the file's when it was called, under its lock.
    bool const may_lead_on = waits && arguments.direction == Direction::read && !file->atomic;
    if (may_lead_on && file->ahead.on()) {
        access.leads_on_ = true;
        bool const fits = call.status == Status::ok && !converts;
        Error error;
        access.operation_ = file->ahead.take(*file, call, fits, error);
        if (access.operation_) {
            file->log(describe(arguments.direction), error);
            access.unpacked_ = error.status;
            access.taken_ = call.request.bytes;
            return access;
        }
    }
    TakenWrite taken;
    if (may_delay) taken = file->delayed->take_collective(call, !converts);
    if (taken.kept) access.taken_ = call.request.bytes;
    call.may_block = waits && !taken.kept;
    access.operation_ = file->start(std::move(call), !waits || taken.kept);
    access.left_behind_ = may_delay && file->delayed->leave(access.operation_, taken);
    return access;
}

Prepared Access::prepare(File const& file, AccessArguments const& arguments) {
    Prepared prepared;
    prepared.arguments = arguments;
    prepared.view = file.view;
    prepared.converts = needs_conversion(file.view);
    if (prepared.converts) {  // Not now: the image is of the memory as it is at each start.
        prepared.call.status = check(file, file.view, arguments).status;
        return prepared;
    }
    std::unique_ptr<ConversionBuffer> none;
    prepared.call = make_call(file, file.view, arguments, true, none);
    prepared.call.may_block = false;
    return prepared;
}

Access Access::begin(std::shared_ptr<File> const& file, Prepared const& prepared) {
    Access access;
    access.file = file;
    access.direction = prepared.arguments.direction;
    Call call = prepared.converts ? make_call(*file, prepared.view, prepared.arguments, false,
                                              access.conversion_buffer_)
                                  : prepared.call;
    call.request.atomic = file->atomic;
    prepare_for(*file, call.request, true);
    access.operation_ = file->start(std::move(call), true);
    return access;
}

Access Access::independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                           bool waits) {
    Access access;
    access.file = file;
    access.direction = arguments.direction;
    Call call = make_call(*file, file->view, arguments, true, access.conversion_buffer_);
    prepare_for(*file, call.request, false);
    bool const may_delay = waits && file->delayed->ordered() && !access.conversion_buffer_;
    Bytes const bytes = call.request.bytes;
    access.left_behind_ = may_delay && file->delayed->take_independent(call);
    if (access.left_behind_) {
        access.taken_ = bytes;
        return access;
    }
    access.independent_ = std::make_unique<Independent>(std::move(call), gap_bytes(*file));
    access.begin_independent(waits);
    return access;
}

Access::Independent::Independent(Call its_call, Bytes gap_bytes)
    : call(std::move(its_call)),
      transfer(call.request, call.user, gap_bytes),
      sieves(call.request.direction == Direction::read && sieving_pays(call.request, gap_bytes)) {}

void Access::Independent::run(StoredFile& storage) {
    if (sieves)
        read_sieved(call.request, call.user, storage, transfer);
    else
        storage.run(transfer);
}

void Access::Independent::start(StoredFile& storage) {
    if (!sieves) return storage.start(transfer);
    storage_threads().submit([this, &storage] {
        run_transfer(transfer, [&] { run(storage); });
        transfer.done.store(true, std::memory_order_release);
        Progress::instance().ring();
    });
}

void Access::begin_independent(bool waits) {
    UserTransfer& transfer = independent_->transfer;
    transfer.error.status = independent_->call.status;  // Bad arguments are logged.
    bool const moves = !transfer.error;
    independent_->moves = moves;
    if (moves && !waits) return independent_->start(*file->storage);
    SteadyClock clock;
    double const began = file->delayed->ordered() ? clock.now() : 0;
    if (moves) independent_->run(*file->storage);
    bool const measures = file->delayed->ordered() && moves && direction == Direction::write;
    if (measures) file->delayed->note_speed(transfer.bytes, clock.now() - began);
    transfer.done = true;
}

bool Access::complete() const noexcept {
    if (left_behind_) return true;
    return operation_ ? operation_->complete()
                      : independent_->transfer.done.load(std::memory_order_acquire);
}

void Access::wait() const {
    if (left_behind_) return;
    if (operation_) return file->wait(*operation_);
    Progress::instance().drive(
        {.done = [&] { return complete(); }, .poke = [&] { file->team->poke(); }});
}

void Access::wait_for_own_part() {
    if (leads_on_) {  // All ranks know then what all of them have read.
        file->wait(*operation_);
        if (operation_->status() == Status::ok)
            file->ahead.prepare(*file, operation_->summary_exchange(), taken_ >= 0);
    } else if (!left_behind_) {
        left_behind_ = !file->wait_for_own_part(operation_);
    }
}

/// Where memory is short it can be called again.
void Access::finish() {
    if (finished_) return;
    bool const unpacks = conversion_buffer_ && direction == Direction::read;
    if (unpacks && status() == Status::ok) {
        Error const error = conversion_buffer_->unpack(moved());
        unpacked_ = error.status;
        file->log(describe(direction), error);
    }
    finished_ = true;
    if (independent_ && independent_->moves) {
        file->log(std::string("independent ") + describe(direction), independent_->transfer.error);
    }
    if (operation_) file->note_in_trace(*operation_, moved());
    if (!operation_ && status() == Status::ok) file->completed_alone(direction, moved());
    if (operation_ && !left_behind_) file->completed(*operation_);
}

Bytes Access::moved() const noexcept {
    if (taken_ >= 0) return taken_;
    if (left_behind_) return operation_->independent_bytes();
    if (operation_) return operation_->bytes();
    return status() == Status::ok ? independent_->transfer.wanted_bytes() : 0;
}

Bytes Access::bytes() const {
    return conversion_buffer_ ? conversion_buffer_->in_memory(moved()) : moved();
}

Status Access::status() const noexcept {
    if (left_behind_) return unpacked_;  // An error of it is told later.
    return agreed(operation_ ? operation_->status() : independent_->transfer.status(), unpacked_);
}

int finish_access(Access& access, MPI_Status* status) {
    access.finish();
    set_status(status, access.bytes());
    return raise(access.file->handle,
                 agreed(access.status(), access.file->delayed->late_errors().any()));
}

int access_blocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    MPI_Status* status) {
    BlockedTime const time(*file);
    Access access = Access::collective(file, arguments, Access::Form::blocking);
    access.wait_for_own_part();
    return finish_access(access, status);
}

int access_nonblocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request) {
    BlockedTime const time(*file);
    reap(false);
    NewRequest made;
    *request = made.stand_for(std::make_unique<StartedAccess>(
        [&] { return Access::collective(file, arguments, Access::Form::nonblocking); }));
    return MPI_SUCCESS;
}

int access_begin(std::shared_ptr<File> const& file, AccessArguments const& arguments) {
    BlockedTime const time(*file);
    if (file->split) return raise(file->handle, Status::split);
    file->split =
        std::make_unique<Access>(Access::collective(file, arguments, Access::Form::split));
    return MPI_SUCCESS;
}

int access_end(std::shared_ptr<File> const& file, Direction direction, MPI_Status* status) {
    BlockedTime const time(*file);
    if (!file->split || file->split->direction != direction)
        return raise(file->handle, Status::split);
    auto const access = std::move(file->split);
    access->wait();
    return finish_access(*access, status);
}

int access_independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Status* status) {
    Access access = Access::independent(file, arguments, true);
    return finish_access(access, status);
}

int access_independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request) {
    reap(false);
    NewRequest made;
    *request = MPI_REQUEST_NULL;
    auto started = std::make_unique<StartedAccess>(
        [&] { return Access::independent(file, arguments, false); });
    if (started->complete() && started->status() != Status::ok) return started->raise();
    *request = made.stand_for(std::move(started));
    return MPI_SUCCESS;
}

}  // namespace sluice
