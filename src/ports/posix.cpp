// Thread pool and positional reads and writes. See posix.hpp.
#include "ports/posix.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr int segments_at_once = 64;
constexpr std::size_t bytes_at_once = 1u << 30;  ///< Linux transfers at most 2 GiB - 4 KiB.

/// Segments that touch in the file, gathered for one system call.
class Batch {
public:
    explicit Batch(Transfer& transfer) : transfer_(transfer), ahead_(transfer.next()) {}

    /// The next segments that touch; false at the end.
    bool fill() {
        count_ = 0, bytes_ = 0;
        if (!ahead_) return false;
        offset_ = ahead_->file_offset;
        while (ahead_ && count_ < segments_at_once &&
               ahead_->file_offset == offset_ + static_cast<Offset>(bytes_)) {
            add(*ahead_);
            ahead_ = transfer_.next();
        }
        return true;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] Offset offset() const noexcept { return offset_; }
    [[nodiscard]] iovec* vectors() noexcept { return vectors_; }
    [[nodiscard]] int count() const noexcept { return count_; }

private:
    void add(Segment const& segment) noexcept {
        auto const length = static_cast<std::size_t>(segment.length);
        auto& last = vectors_[count_ > 0 ? count_ - 1 : 0];
        bool const touches =
            count_ > 0 && static_cast<std::byte*>(last.iov_base) + last.iov_len == segment.memory;
        if (touches)
            last.iov_len += length;
        else
            vectors_[count_++] = {segment.memory, length};
        bytes_ += length;
    }

    Transfer& transfer_;
    std::optional<Segment> ahead_;
    iovec vectors_[segments_at_once]{};
    int count_ = 0;
    std::size_t bytes_ = 0;
    Offset offset_ = 0;
};

/// Drops what was transferred from the front of the vectors.
void drop(iovec*& vectors, int& count, std::size_t bytes) noexcept {
    while (count > 0 && bytes >= vectors->iov_len) {
        bytes -= vectors->iov_len;
        ++vectors, --count;
    }
    if (count == 0) return;
    vectors->iov_base = static_cast<std::byte*>(vectors->iov_base) + bytes;
    vectors->iov_len -= bytes;
}

long system_call(int fd, Direction direction, iovec const* vectors, int count,
                 Offset offset) noexcept {
    if (count == 1) {
        std::size_t const length = std::min(vectors->iov_len, bytes_at_once);
        return direction == Direction::write ? pwrite(fd, vectors->iov_base, length, offset)
                                             : pread(fd, vectors->iov_base, length, offset);
    }
    return direction == Direction::write ? pwritev(fd, vectors, count, offset)
                                         : preadv(fd, vectors, count, offset);
}

void transfer_batch(Batch& batch, Transfer& transfer, TransferCall const& call) {
    iovec* vectors = batch.vectors();
    int count = batch.count();
    std::size_t done = 0;
    while (count > 0) {
        Offset const at = batch.offset() + static_cast<Offset>(done);
        long const result = call(transfer.direction, vectors, count, at);
        if (result < 0 && errno == EINTR) continue;
        if (result < 0) {
            transfer.status = agreed(transfer.status, status_of_errno(errno));
            break;
        }
        if (result == 0) {  // Reading: the end of the file. Writing: a device that takes no more.
            if (transfer.direction == Direction::write)
                transfer.status = Status::io;
            else
                transfer.end_of_file = std::min(transfer.end_of_file, at);
            break;
        }
        done += static_cast<std::size_t>(result);
        drop(vectors, count, static_cast<std::size_t>(result));
    }
    transfer.bytes += static_cast<Bytes>(done);
}

void transfer_by_system(int fd, Transfer& transfer) {
    transfer_all(transfer,
                 [fd](Direction direction, iovec const* vectors, int count, Offset offset) {
                     return system_call(fd, direction, vectors, count, offset);
                 });
}

}  // namespace

void transfer_all(Transfer& transfer, TransferCall const& call) {
    Batch batch(transfer);
    while (transfer.status == Status::ok && batch.fill()) transfer_batch(batch, transfer, call);
}

Status status_of_errno(int error) noexcept {
    switch (error) {
    case 0:
        return Status::ok;
    case ENOENT:
        return Status::no_such_file;
    case EACCES:
    case EPERM:
        return Status::access;
    case EROFS:
        return Status::read_only;
    case ENOSPC:
        return Status::no_space;
    case EDQUOT:
        return Status::quota;
    case EBADF:
        return Status::amode;
    case ENOMEM:
        return Status::no_memory;
    case EFBIG:
        return Status::no_space;
    case EFAULT:
        return Status::buffer;
    default:
        return Status::io;
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
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);  // The thread inherits it: signals are the
        threads_.emplace_back([this] { work(); });    // application's.
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    wake_.notify_one();
}

void WorkerPool::work() {
    pthread_setname_np(pthread_self(), "sluice-storage");
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

PosixFile::PosixFile(std::string path, AccessMode mode, WorkerPool& pool,
                     std::function<void()> finished)
    : path_(std::move(path)),
      mode_(mode),
      pool_(pool),
      finished_(std::move(finished)) {}

PosixFile::~PosixFile() {
    if (fd_ >= 0) close(fd_);
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

void PosixFile::run(Transfer& transfer) {
    int fd = -1;
    transfer.status = opened(fd);
    if (transfer.status != Status::ok) return;
    if (transfer.direction == Direction::write) written_ = true;
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

void PosixFile::start(Transfer& transfer) {
    pool_.submit([this, &transfer] {
        run(transfer);
        auto const ring = finished_;  // The file may be gone once `done` is seen.
        transfer.done.store(true, std::memory_order_release);
        ring();
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
