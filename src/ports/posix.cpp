// Thread pool and positional reads and writes. See posix.hpp.
#include "ports/posix.hpp"

#include "ports/quiet_thread.hpp"
#include "ports/uring.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr Bytes direct_read_bytes_in_memory = 8 * 1024;

bool is_in_memory(std::string const& path) noexcept {
    struct statfs found{};
    return statfs(path.c_str(), &found) == 0 && found.f_type == TMPFS_MAGIC;
}

long system_call(int fd, Direction direction, iovec const* vectors, int count,
                 Offset offset) noexcept {
    if (count == 1) {
        return direction == Direction::write
                   ? pwrite(fd, vectors->iov_base, vectors->iov_len, offset)
                   : pread(fd, vectors->iov_base, vectors->iov_len, offset);
    }
    return direction == Direction::write ? pwritev(fd, vectors, count, offset)
                                         : preadv(fd, vectors, count, offset);
}

void transfer_by_system(int fd, Transfer& transfer) {
    transfer_all(transfer,
                 [fd](Direction direction, iovec const* vectors, int count, Offset offset) {
                     return system_call(fd, direction, vectors, count, offset);
                 });
}

}  // namespace

void transfer_all(Transfer& transfer, TransferCall const& call) {
    Segments segments(transfer);
    Batch batch;
    while (transfer.status == Status::ok && segments.fill(batch)) {
        long result = 0;
        do {
            result = call(transfer.direction, batch.vectors(), batch.count(), batch.offset());
            if (result < 0) result = -errno;
        } while (batch.take(result, transfer));
    }
}

WorkerPool::~WorkerPool() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void WorkerPool::submit(std::function<void()> task) {
    if (thread_count_ == 0) return task();
    std::lock_guard const lock(mutex_);
    tasks_.push_back(std::move(task));
    bool const all_busy = idle_ < static_cast<int>(tasks_.size());
    if (all_busy && static_cast<int>(threads_.size()) < thread_count_) {
        threads_.push_back(quiet_thread("sluice-storage", [this] { work(); }));
    }
    wake_.notify_one();
}

double WorkerPool::processor_seconds() {
    std::lock_guard const lock(mutex_);
    double sum = 0;
    for (auto& thread : threads_) sum += sluice::processor_seconds(thread);
    return sum;
}

void WorkerPool::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        --idle_;
        if (tasks_.empty()) return;
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        lock.lock();
    }
}

PosixFile::PosixFile(std::string path, AccessMode mode, PosixWay way,
                     std::function<void()> finished)
    : path_(std::move(path)),
      mode_(mode),
      way_(way),
      finished_(std::move(finished)) {}

PosixFile::~PosixFile() {
    if (fd_ >= 0) close(fd_);
}

bool PosixFile::is_open() {
    std::lock_guard const lock(mutex_);
    return fd_ >= 0;
}

Status PosixFile::opened(int& fd) {
    std::lock_guard const lock(mutex_);
    if (fd_ < 0 && open_status_ == Status::ok) {
        int const flags = mode_ == AccessMode::read    ? O_RDONLY
                          : mode_ == AccessMode::write ? O_WRONLY
                                                       : O_RDWR;
        fd_ = open(path_.c_str(), flags | O_CLOEXEC);
        if (fd_ < 0) open_status_ = status_of_errno(errno);
    }
    fd = fd_;
    return open_status_;
}

bool PosixFile::prepare(Transfer& transfer, int& fd) {
    transfer.status = opened(fd);
    if (transfer.status != Status::ok) return false;
    if (transfer.direction == Direction::write) written_ = true;
    return true;
}

/// Where no device is behind it, a read of a piece costs one system call and no staging (decision
/// 0014). Elsewhere it may cost a seek, or a message and a lock of the file's servers.
Bytes PosixFile::direct_piece_bytes(Direction way) {
    if (way == Direction::write) return Storage::direct_piece_bytes(way);
    int known = in_memory_;
    if (known < 0) in_memory_ = known = is_in_memory(path_) ? 1 : 0;
    return known == 1 ? direct_read_bytes_in_memory : Storage::direct_piece_bytes(way);
}

void PosixFile::run(Transfer& transfer) {
    int fd = -1;
    if (!prepare(transfer, fd)) return;
    if (!transfer.exclusive.empty()) return run_exclusive(fd, transfer);
    transfer_by_system(fd, transfer);
}

/// The lock belongs to the descriptor, so that other handles of this process wait too, and those
/// of an MPI that locks ranges in atomic mode.
void PosixFile::run_exclusive(int fd, Transfer& transfer) {
    std::lock_guard const one_at_a_time(exclusive_mutex_);
    struct flock range{};
    // A read lock needs a descriptor that reads, a write lock one that writes.
    range.l_type = transfer.direction == Direction::write ? F_WRLCK : F_RDLCK;
    range.l_whence = SEEK_SET;
    range.l_start = transfer.exclusive.begin;
    range.l_len = transfer.exclusive.bytes();
    int locked = 0;
    while ((locked = fcntl(fd, F_OFD_SETLKW, &range)) != 0 && errno == EINTR) continue;
    if (locked != 0) {
        transfer.status = status_of_errno(errno);
        return;
    }
    transfer_by_system(fd, transfer);
    range.l_type = F_UNLCK;
    fcntl(fd, F_OFD_SETLK, &range);
}

/// What says that a transfer is done. The file may be gone once `done` is seen.
std::function<void()> PosixFile::finisher(Transfer& transfer) const {
    return [&transfer, ring = finished_] {
        transfer.done.store(true, std::memory_order_release);
        ring();
    };
}

void PosixFile::start(Transfer& transfer) {
    bool const by_ring = way_.ring && transfer.exclusive.empty();
    int fd = -1;
    if (by_ring && is_open() && prepare(transfer, fd)) {
        return way_.ring->start(fd, transfer, finisher(transfer));
    }
    way_.pool.submit([this, &transfer, by_ring, finish = finisher(transfer)] {
        int opened_fd = -1;
        if (by_ring && prepare(transfer, opened_fd)) {
            return way_.ring->start(opened_fd, transfer, finish);
        }
        if (!by_ring) run(transfer);
        finish();
    });
}

Status PosixFile::preallocate(Bytes bytes) {
    int fd = -1;
    if (Status const status = opened(fd); status != Status::ok || bytes == 0) return status;
    return status_of_errno(posix_fallocate(fd, 0, bytes));
}

Status PosixFile::sync() {
    if (!written_.exchange(false)) return Status::ok;
    std::lock_guard const lock(mutex_);
    return fdatasync(fd_) == 0 ? Status::ok : status_of_errno(errno);
}

}  // namespace sluice
