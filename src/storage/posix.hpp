// A PosixFile is a file of the system. Storage threads transfer its bytes with pread and pwrite.
#pragma once
#include "base/page_cache.hpp"
#include "storage/batch.hpp"
#include "storage/stored_file.hpp"
#include "storage/worker_pool.hpp"
#include "system/descriptor.hpp"

#include <functional>
#include <mutex>
#include <string>

namespace sluice {

/// What pwritev and preadv do, with their results and errno. Replaced by simulated files.
using TransferCall =
    std::function<long(Direction direction, iovec const* vectors, int count, Offset offset)>;

/// Moves all segments, whatever `call` makes of it: short counts and EINTR are gone on with, zero
/// is the end of the file for a read, other errors end the transfer. Calls that moved nothing for
/// the moment are made again a few times. Sets all results but `done`.
void transfer_all(Transfer& transfer, TransferCall const& call);
/// The same by the system.
void transfer_all(Transfer& transfer, Route const& route);

/// Who serves a file: shared by the files of a process, and outlives them.
struct PosixWay {
    WorkerPool& pool;
    PageCache page_cache = PageCache::keep;
    Faults* faults = nullptr;  ///< For tests.
    Tracer* tracer = nullptr;  ///< Null: there is no trace.
    std::uint16_t traced_file = 0;
};

/// One file, held from the beginning: names, limits and privileges may change meanwhile.
class PosixFile final : public StoredFile {
public:
    /// `finished` is called by a storage thread after each transfer: it rings the rank. A file that
    /// could not be opened ends all transfers with its status.
    PosixFile(OpenedFile file, AccessMode mode, PosixWay way, std::function<void()> finished);
    PosixFile(std::string const& path, AccessMode mode, PosixWay way,
              std::function<void()> finished);
    ~PosixFile() override;

    void start(Transfer& transfer) override;
    void run(Transfer& transfer) override;
    Bytes independent_piece_bytes(Direction way) override;
    Error opened() const override { return opened_; }
    void allow_mapping() override;
    Error sync() override;
    /// By fallocate. A file system without it gets zeros behind the end of the file, one in each
    /// 4 KiB, up to `bytes`; holes before the end stay.
    Error preallocate(Bytes bytes) override;
    Bytes room() const override;
    Error release() override;
    /// Of a file that is opened for direct I/O: how its requests went so far.
    [[nodiscard]] DirectIoTally direct_io_tally() const;

private:
    bool prepare(Transfer& transfer);
    bool has_device();
    bool may_divide(Direction way);
    void run_exclusive(Transfer& transfer);

    PosixWay way_;
    AccessMode mode_;
    std::function<void()> finished_;
    Descriptor descriptor_;
    Error opened_;
    std::unique_ptr<DirectIo> direct_io_;
    std::optional<MappedPieces> mapped_pieces_;
    Route route_;
    std::mutex exclusive_mutex_;  ///< The system's locks are between descriptors, not threads.
    std::atomic<bool> written_{false};
    std::atomic<int> in_memory_{-1};  ///< The file system has no device; -1: not known yet.
    /// Waits for locks, however long others keep them: the pool's threads serve other files
    /// meanwhile. Its thread starts with the first exclusive transfer.
    WorkerPool lock_waiter_{1};
};

}  // namespace sluice
