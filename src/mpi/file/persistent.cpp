// An access is captured once and started often. See persistent.hpp.
#include "mpi/file/persistent.hpp"

#include "mpi/errors.hpp"
#include "mpi/requests/requests.hpp"

#include <climits>

namespace sluice {

std::unique_ptr<Persistent> Persistent::make(std::shared_ptr<File> const& file,
                                             AccessArguments const& arguments, Status& status) {
    BlockedTime const time(*file);
    Prepared prepared = Access::prepare(*file, arguments);
    status = file->agree(prepared.call.status);
    if (status != Status::ok) return nullptr;
    auto made = std::make_unique<Persistent>(std::move(prepared));
    made->file_ = file;
    return made;
}

std::unique_ptr<Persistent> Persistent::make_in_mpi(AccessArguments const& arguments) {
    Prepared prepared;
    prepared.arguments = arguments;
    prepared.converts = true;
    return std::make_unique<Persistent>(std::move(prepared));
}

Persistent::Persistent(Prepared prepared) : prepared_(std::move(prepared)) {
    MPI_Datatype& type = prepared_.arguments.type;
    bool const needs_type = prepared_.converts && type != MPI_DATATYPE_NULL;
    if (needs_type) type = own_type_ = duplicate(type);
}

Persistent::~Persistent() {
    if (own_type_ != MPI_DATATYPE_NULL && !is_predefined(own_type_)) PMPI_Type_free(&own_type_);
}

bool Persistent::active() const noexcept { return access_ || in_mpi_ != MPI_REQUEST_NULL; }

bool Persistent::is_open() const {
    return !file_ || find_file(prepared_.arguments.handle) == file_;
}

int Persistent::refuse(int error_class) const {
    if (is_open()) PMPI_File_call_errhandler(prepared_.arguments.handle, error_class);
    return error_class;
}

int Persistent::start() {
    if (active()) return refuse(MPI_ERR_REQUEST);
    if (!file_) return start_in_mpi();
    if (!is_open()) return MPI_ERR_FILE;
    BlockedTime const time(*file_);
    access_ = Access::begin(file_, prepared_);
    return MPI_SUCCESS;
}

int Persistent::start_in_mpi() {
    staged_ = StagedMemory::of(prepared_.arguments);
    AccessArguments const& a = staged_ ? staged_->arguments() : prepared_.arguments;
    bool const writes = a.direction == Direction::write;
#ifdef SLUICE_HAVE_LARGE_COUNT
    return writes
               ? PMPI_File_iwrite_at_all_c(a.handle, a.offset, a.buffer, a.count, a.type, &in_mpi_)
               : PMPI_File_iread_at_all_c(a.handle, a.offset, a.buffer, a.count, a.type, &in_mpi_);
#else
    if (a.count > INT_MAX) return refuse(MPI_ERR_COUNT);
    int const count = static_cast<int>(a.count);
    return writes ? PMPI_File_iwrite_at_all(a.handle, a.offset, a.buffer, count, a.type, &in_mpi_)
                  : PMPI_File_iread_at_all(a.handle, a.offset, a.buffer, count, a.type, &in_mpi_);
#endif
}

int Persistent::wait(MPI_Status* status) {
    if (in_mpi_ != MPI_REQUEST_NULL)
        return complete_or_raise(staged_.get(), status,
                                 [&](MPI_Status* of_mpi) { return PMPI_Wait(&in_mpi_, of_mpi); });
    if (access_) return finish(status);
    set_status(status, 0);
    return MPI_SUCCESS;
}

int Persistent::test(int* complete, MPI_Status* status) {
    if (in_mpi_ != MPI_REQUEST_NULL) return test_in_mpi(complete, status);
    if (access_ && !access_->complete()) Progress::instance().poll_all();
    if (access_ && !access_->complete()) file_->team->poke();  // As MPI_Test would.
    *complete = !access_ || access_->complete();
    return *complete ? wait(status) : MPI_SUCCESS;
}

int Persistent::test_in_mpi(int* complete, MPI_Status* status) {
    MPI_Status of_mpi;
    int const code = PMPI_Test(&in_mpi_, complete, staged_ ? &of_mpi : status);
    if (!staged_ || !*complete || code != MPI_SUCCESS) return code;
    return complete_or_raise(staged_.get(), status, [&](MPI_Status* its) {
        *its = of_mpi;
        return MPI_SUCCESS;
    });
}

int Persistent::finish(MPI_Status* status) {
    BlockedTime const time(*file_);
    Access access = *std::exchange(access_, std::nullopt);
    access.wait();
    if (is_open()) return finish_access(access, status);
    access.finish();  // There is no handler any more.
    set_status(status, access.bytes());
    return error_class(access.status());
}

int Persistent::check_free() const { return active() ? refuse(MPI_ERR_REQUEST) : MPI_SUCCESS; }

}  // namespace sluice
