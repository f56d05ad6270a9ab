// fcntl. See range_lock.hpp.
#include "ports/range_lock.hpp"

#include "ports/batch.hpp"

#include <cerrno>

namespace sluice {
namespace {

std::mutex& turns() {
    static auto* const only = new std::mutex;  // Storage threads may outlive main().
    return *only;
}

/// The errno, or 0.
int lock(int fd, int how, struct flock& range) noexcept {
    while (fcntl(fd, how, &range) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

}  // namespace

RangeLock::RangeLock(int fd, Direction direction, Span range) noexcept : fd_(fd) {
    range_.l_type = direction == Direction::write ? F_WRLCK : F_RDLCK;
    range_.l_whence = SEEK_SET;
    range_.l_start = range.begin;
    range_.l_len = range.bytes();
    int error = lock(fd_, F_OFD_SETLKW, range_);
    if (error == EINVAL) {
        turn_ = std::unique_lock(turns());
        release_by_ = F_SETLK;
        error = lock(fd_, F_SETLKW, range_);
    }
    status_ = status_of_errno(error);
}

RangeLock::~RangeLock() {
    if (status_ != Status::ok) return;
    range_.l_type = F_UNLCK;
    fcntl(fd_, release_by_, &range_);
}

}  // namespace sluice
