// Storage over pread and pwrite: a small pool of threads that wait for the device, so that nobody
// else has to.
#pragma once
#include "core/engine.hpp"
#include "ports/batch.hpp"
#include "ports/stored_file.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice {

class Uring;

/// Threads that run tasks in order. They start with the first task and block all signals. With no
/// threads submit() runs the task itself.
class WorkerPool {
public:
    explicit WorkerPool(int thread_count) noexcept : thread_count_(thread_count) {}
    ~WorkerPool();
    void submit(std::function<void()> task);
    /// Of all its threads so far.
    [[nodiscard]] double processor_seconds();

private:
    void work();

    int thread_count_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    int idle_ = 0;
    bool stopping_ = false;
};

/// What pwritev and preadv do, with their results and errno. Replaced by simulated files and
/// faults.
using TransferCall =
    std::function<long(Direction direction, iovec const* vectors, int count, Offset offset)>;

/// Moves all segments, whatever `call` makes of it: short counts and EINTR are gone on with, zero
/// is the end of the file, other errors end the transfer. Sets all results but `done`.
void transfer_all(Transfer& transfer, TransferCall const& call);

enum class AccessMode : std::uint8_t { read, write, both };

/// Who serves a file: shared by the files of a process, and outlives them.
struct PosixWay {
    WorkerPool& pool;       ///< Opens, takes locks, and moves bytes where nothing else is named.
    Uring* ring = nullptr;  ///< Moves them by io_uring.
    bool aio = false;       ///< Moves them by POSIX AIO, waited for by the pool.
    PageCache page_cache = PageCache::keep;
};

/// One file, opened when the first transfer needs it: ranks that never transfer never open it.
class PosixFile final : public StoredFile {
public:
    /// `finished` is called by a storage thread after each transfer: it rings the rank.
    PosixFile(std::string path, AccessMode mode, PosixWay way, std::function<void()> finished);
    ~PosixFile() override;

    void start(Transfer& transfer) override;
    void run(Transfer& transfer) override;
    Bytes direct_piece_bytes(Direction way) override;
    Status sync() override;
    Status preallocate(Bytes bytes) override;

private:
    bool is_open();
    Status opened(int& fd);
    bool prepare(Transfer& transfer, int& fd);
    std::function<void()> finisher(Transfer& transfer) const;
    void run_exclusive(int fd, Transfer& transfer);

    std::string path_;
    AccessMode mode_;
    PosixWay way_;
    std::function<void()> finished_;
    std::mutex mutex_;  ///< Guards the fields below.
    int fd_ = -1;
    Status open_status_ = Status::ok;
    std::mutex exclusive_mutex_;  ///< The system's locks are between descriptors, not threads.
    std::atomic<bool> written_{false};
    std::atomic<int> in_memory_{-1};  ///< The file system has no device; -1: not known yet.
};

}  // namespace sluice
