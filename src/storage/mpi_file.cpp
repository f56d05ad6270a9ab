// Pieces moved by PMPI_File_write_at and PMPI_File_read_at. See mpi_file.hpp.
#include "storage/mpi_file.hpp"

#include "transport/mpi_status.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// One transfer, piece by piece, in the calling thread.
class PiecewiseMove {
public:
    PiecewiseMove(MPI_File file, Route const& route, Transfer& transfer)
        : file_(file),
          route_(route),
          transfer_(transfer) {}

    void run() {
        if (reads()) note(mpi_error("MPI_File_get_size", PMPI_File_get_size(file_, &file_bytes_)));
        Segments segments(transfer_, batch_bytes_under_way);
        Batch batch;
        while (is_ok() && segments.fill(batch)) move(batch);
    }

private:
    [[nodiscard]] bool reads() const noexcept { return transfer_.direction == Direction::read; }
    [[nodiscard]] bool is_ok() const noexcept { return !transfer_.error; }
    void note(Error const& error) noexcept { transfer_.fail(error); }

    void move(Batch& batch) {
        while (batch.ask(route_, transfer_)) {
            Bytes const moved = call(batch);
            if (!is_ok() || !batch.take(moved, transfer_)) return;
        }
    }

    /// Bytes moved, 0 at the end of the file; notes what the MPI says. Nothing behind the end is
    /// asked for: the MPIs count such reads in different ways.
    Bytes call(Batch const& batch) {
        Offset const at = batch.offset();
        void* const memory = batch.vectors()->iov_base;
        auto wanted = static_cast<Bytes>(batch.vectors()->iov_len);
        if (reads()) wanted = std::clamp<Bytes>(file_bytes_ - at, 0, wanted);
        if (wanted == 0) return 0;
        auto const bytes = static_cast<int>(wanted);
        MPI_Status status;
        int const code = reads() ? PMPI_File_read_at(file_, at, memory, bytes, MPI_BYTE, &status)
                                 : PMPI_File_write_at(file_, at, memory, bytes, MPI_BYTE, &status);
        note(mpi_error(reads() ? "MPI_File_read_at" : "MPI_File_write_at", code, wanted, at));
        int moved = 0;
        if (code == MPI_SUCCESS) PMPI_Get_count(&status, MPI_BYTE, &moved);
        return std::clamp(moved, 0, bytes);
    }

    MPI_File file_;
    Route const& route_;
    Transfer& transfer_;
    MPI_Offset file_bytes_ = 0;
};

/// A communicator of this rank alone: the program may use MPI_COMM_SELF meanwhile, or, in a
/// session, not have it.
int make_self(MPI_Comm parent, MPI_Comm& self) {
    int rank = 0;
    MPI_Group all = MPI_GROUP_NULL, own = MPI_GROUP_NULL;
    PMPI_Comm_rank(parent, &rank);
    PMPI_Comm_group(parent, &all);
    PMPI_Group_incl(all, 1, &rank, &own);
    int const code = PMPI_Comm_create_group(parent, own, 0, &self);
    PMPI_Group_free(&own);
    PMPI_Group_free(&all);
    return code;
}

int mpi_mode(AccessMode mode) noexcept {
    return mode == AccessMode::read    ? MPI_MODE_RDONLY
           : mode == AccessMode::write ? MPI_MODE_WRONLY
                                       : MPI_MODE_RDWR;
}

}  // namespace

MpiFile::MpiFile(std::string const& name, AccessMode mode, MpiWay way,
                 std::unique_ptr<StoredFile> by_path, std::function<void()> finished)
    : way_(way),
      by_path_(std::move(by_path)),
      finished_(std::move(finished)),
      opened_(open(name, mode)) {}

MpiFile::~MpiFile() {
    int ended = 0;
    PMPI_Finalized(&ended);
    if (!ended) MpiFile::release();
}

void MpiFile::release() {
    if (by_path_) by_path_->release();
    if (file_ != MPI_FILE_NULL) PMPI_File_close(&file_);
    if (self_ != MPI_COMM_NULL) PMPI_Comm_free(&self_);
    opened_ = {.status = Status::bad_file, .what = "the file is closed"};
}

Error MpiFile::open(std::string const& name, AccessMode mode) {
    static std::mutex one_at_a_time;  // Groups of one parent and one tag are not made at once.
    std::lock_guard const lock(one_at_a_time);
    if (int const code = make_self(way_.parent, self_); code != MPI_SUCCESS)
        return mpi_error("MPI_Comm_create_group", code);
    int const code = PMPI_File_open(self_, name.c_str(), mpi_mode(mode), MPI_INFO_NULL, &file_);
    if (code != MPI_SUCCESS) {
        file_ = MPI_FILE_NULL;
        return mpi_error("MPI_File_open", code);
    }
    return mpi_error("MPI_File_set_errhandler", PMPI_File_set_errhandler(file_, MPI_ERRORS_RETURN));
}

/// Bytes that nobody else may access meanwhile go by the path, with the system's lock: a lock of
/// the MPI's (MPI_File_set_atomicity) lasts for one call, and Open MPI takes none. A file without a
/// path has no atomic mode.
void MpiFile::run(Transfer& transfer) {
    if (!transfer.exclusive.empty()) {
        if (by_path_) return by_path_->run(transfer);
        return transfer.fail({.status = Status::unsupported,
                              .what = "atomic mode needs a file with a path, for its locks"});
    }
    transfer.error = opened_;
    if (opened_) return;
    if (transfer.direction == Direction::write) written_ = true;
    Route const route{.faults = way_.faults,
                      .one_range = true,
                      .tracer = way_.tracer,
                      .traced_file = way_.traced_file};
    PiecewiseMove(file_, route, transfer).run();
}

void MpiFile::start(Transfer& transfer) {
    if (by_path_ && !transfer.exclusive.empty()) return by_path_->start(transfer);
    way_.pool.submit([this, &transfer, ring = finished_] {
        run_transfer(transfer, [&] { run(transfer); });
        transfer.done.store(true, std::memory_order_release);
        ring();  // The file may be gone.
    });
}

Bytes MpiFile::independent_piece_bytes(Direction way) {
    return by_path_ ? by_path_->independent_piece_bytes(way)
                    : Storage::independent_piece_bytes(way);
}

/// What failed is tried again by the next one.
Error MpiFile::sync() {
    Error const error = by_path_ ? by_path_->sync() : Error{};
    if (!written_.exchange(false)) return error;
    Error const flushed = mpi_error("MPI_File_sync", PMPI_File_sync(file_));
    if (flushed) written_ = true;
    return first_of(error, flushed);
}

/// By the path where there is one: Open MPI's writes garbage into the new part.
Error MpiFile::preallocate(Bytes bytes) {
    if (by_path_) return by_path_->preallocate(bytes);
    if (opened_ || bytes == 0) return opened_;
    return mpi_error("MPI_File_preallocate", PMPI_File_preallocate(file_, bytes), bytes, 0);
}

}  // namespace sluice
