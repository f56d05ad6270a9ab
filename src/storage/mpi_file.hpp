// Storage over the MPI's own file: for file systems that only its drivers reach. Every rank has a
// handle of its own, so nothing of it is collective; the storage threads call MPI, so that nobody
// else waits: needs MPI_THREAD_MULTIPLE.
//
// They make blocking calls. MPI_File_iwrite_at and iread_at are not to be relied on beside other
// threads: in Open MPI 5 all threads that make progress walk a list of them that no lock guards
// (seen to crash), and ROMIO over POSIX AIO never completes one that fails (seen with a full disk).
#pragma once
#include "storage/posix.hpp"

#include <memory>
#include <mpi.h>

namespace sluice {

/// What an MPI calls a file, and what the system does.
struct FileNames {
    std::string mpi;                  ///< With the prefix that names a driver, if it has one.
    std::optional<std::string> path;  ///< Nothing: only that driver reaches it.
};

/// What serves a file, and outlives it.
struct MpiWay {
    MPI_Comm parent;  ///< This rank is in it.
    WorkerPool& pool;
    Faults* faults = nullptr;  ///< For tests.
    Tracer* tracer = nullptr;  ///< Null: there is no trace.
    std::uint16_t traced_file = 0;
};

class MpiFile final : public StoredFile {
public:
    /// `by_path`: the same file for what the MPI cannot do; null where it has no path.
    /// `finished` is called by a storage thread after each transfer. Opens the file by `name`.
    MpiFile(std::string const& name, AccessMode mode, MpiWay way,
            std::unique_ptr<StoredFile> by_path, std::function<void()> finished);
    ~MpiFile() override;

    void start(Transfer& transfer) override;
    void run(Transfer& transfer) override;
    Bytes independent_piece_bytes(Direction way) override;
    [[nodiscard]] Error opened() const override { return opened_; }
    Error sync() override;
    Error preallocate(Bytes bytes) override;
    [[nodiscard]] Bytes room() const override { return by_path_ ? by_path_->room() : endless; }
    void release() override;

private:
    Error open(std::string const& name, AccessMode mode);

    MpiWay way_;
    std::unique_ptr<StoredFile> by_path_;
    std::function<void()> finished_;
    MPI_Comm self_ = MPI_COMM_NULL;
    MPI_File file_ = MPI_FILE_NULL;
    Error opened_;
    std::atomic<bool> written_{false};
};

}  // namespace sluice
