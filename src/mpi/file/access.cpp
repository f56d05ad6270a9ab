// How accesses begin, who moves them, and how they end. See access.hpp.
#include "mpi/file/access.hpp"

#include "file/run/sieved_read.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/started_access.hpp"
#include "mpi/requests/requests.hpp"

namespace sluice {
namespace {

/// Gaps of a read that cost less to read along than a request more would. A read takes whole
/// pieces where they are long, and tells by that length what a request costs.
Bytes gap_bytes(File const& file) {
    constexpr Bytes most = 64 * 1024;
    return std::min(most, file.storage->independent_piece_bytes(Direction::read) / 4);
}

/// What earlier calls have delayed comes first, and what was read ahead is not for ever.
void prepare_for(File& file, Request const& request, Follows follows) {
    if (!file.delayed->minds_others()) return;
    bool const writes = request.direction == Direction::write;
    Span const reach = reach_of(request, file.is_beyond_end(request));
    file.delayed->wait_for(reach, writes ? Before::write : Before::read, follows);
    if (writes) file.drop_read_ahead(reach);
}

}  // namespace

Access Access::collective(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                          Form form) {
    Access access;
    access.file = file;
    access.direction = arguments.direction;
    bool const waits = form == Form::blocking;
    bool const may_delay = file->delayed->ordered() && form != Form::nonblocking;
    CallForm const call_form{waits || may_delay, waits || may_delay};
    Call call = capture_call(*file, file->view, arguments, call_form, access.conversion_buffer_);
    prepare_for(*file, call.request, Follows::operations);
    bool const converts = access.conversion_buffer_ != nullptr;
    if (!call_form.waits && !converts && call.status == Status::ok)
        call.after = point_before(*file, call);
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
        prepared.call.status = check(file, file.view, arguments);
        return prepared;
    }
    std::unique_ptr<ConversionBuffer> none;
    prepared.call = capture_call(file, file.view, arguments, {true, false}, none);
    prepared.call.may_block = false;
    return prepared;
}

Access Access::begin(std::shared_ptr<File> const& file, Prepared const& prepared) {
    Access access;
    access.file = file;
    access.direction = prepared.arguments.direction;
    Call call = prepared.converts ? capture_call(*file, prepared.view, prepared.arguments,
                                                 {false, true}, access.conversion_buffer_)
                                  : prepared.call;
    call.request.atomic = file->atomic;
    if (!prepared.converts && call.status == Status::ok) call.after = point_before(*file, call);
    prepare_for(*file, call.request, Follows::operations);
    access.operation_ = file->start(std::move(call), true);
    return access;
}

Access Access::independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                           bool waits) {
    Access access;
    access.file = file;
    access.direction = arguments.direction;
    Call call =
        capture_call(*file, file->view, arguments, {true, waits}, access.conversion_buffer_);
    bool const may_delay = waits && file->delayed->ordered() && !access.conversion_buffer_;
    prepare_for(*file, call.request, may_delay ? Follows::independent : Follows::nothing);
    bool const waits_for_stream = !waits && !access.conversion_buffer_ && call.status == Status::ok;
    auto const after = waits_for_stream ? point_before(*file, call) : nullptr;
    Bytes const bytes = call.request.bytes;
    access.left_behind_ = may_delay && file->delayed->take_independent(call);
    if (access.left_behind_) {
        access.taken_ = bytes;
        return access;
    }
    access.independent_ = std::make_unique<Independent>(std::move(call), gap_bytes(*file));
    access.begin_independent(waits, after);
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

void Access::Independent::start(StoredFile& storage, std::shared_ptr<StreamPoint> const& after) {
    if (!after) return start_now(storage);
    after->call_at_end([this, &storage, after] {
        transfer.error = after->error();
        bool has_begun = false;
        if (!transfer.error) {
            run_transfer(transfer, [&] {
                start_now(storage);
                has_begun = true;
            });
        }
        if (has_begun) return;  // It may have ended, and this be gone.
        transfer.done.store(true, std::memory_order_release);
        Progress::instance().ring();
    });
}

void Access::Independent::start_now(StoredFile& storage) {
    if (!sieves) return storage.start(transfer);
    storage_threads().submit([this, &storage] {
        run_transfer(transfer, [&] { run(storage); });
        transfer.done.store(true, std::memory_order_release);
        Progress::instance().ring();
    });
}

void Access::begin_independent(bool waits, std::shared_ptr<StreamPoint> const& after) {
    UserTransfer& transfer = independent_->transfer;
    transfer.error.status = independent_->call.status;  // Bad arguments are logged.
    bool const moves = !transfer.error;
    independent_->moves = moves;
    if (moves && !waits) return independent_->start(*file->storage, after);
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
