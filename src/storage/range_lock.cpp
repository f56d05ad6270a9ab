// Locks are taken with fcntl. See range_lock.hpp.
#include "storage/range_lock.hpp"

#include "storage/batch.hpp"
#include "system/descriptor.hpp"
#include "system/errno_status.hpp"

#include <cerrno>
#include <map>

namespace sluice {
namespace {

/// Those of one file: who waits for a lock of another job holds up nobody's other files.
std::shared_ptr<std::mutex> turns_of(int fd) {
    struct All {
        std::mutex mutex;
        std::map<FileIdentity, std::weak_ptr<std::mutex>> of;
    };
    static auto* const all = new All;  // Threads may outlive main().
    std::lock_guard const lock(all->mutex);
    std::erase_if(all->of, [](auto const& entry) { return entry.second.expired(); });
    auto& known = all->of[identity_of(fd).value_or(FileIdentity{})];
    auto turns = known.lock();
    if (!turns) known = turns = std::make_shared<std::mutex>();
    return turns;
}

/// The errno, or 0.
int lock(int fd, int how, struct flock& range) noexcept {
    while (fcntl(fd, how, &range) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

}  // namespace

RangeLock::RangeLock(int fd, Direction direction, Span range) : fd_(fd) {
    range_.l_type = direction == Direction::write ? F_WRLCK : F_RDLCK;
    range_.l_whence = SEEK_SET;
    range_.l_start = range.begin;
    range_.l_len = range.bytes();
    int error = lock(fd_, F_OFD_SETLKW, range_);
    if (error == EINVAL) {
        turns_ = turns_of(fd_);
        turn_ = std::unique_lock(*turns_);
        release_by_ = F_SETLK;
        error = lock(fd_, F_SETLKW, range_);
    }
    error_ = system_error("fcntl, for a lock", error, range.bytes(), range.begin);
}

RangeLock::~RangeLock() {
    if (error_) return;
    range_.l_type = F_UNLCK;
    fcntl(fd_, release_by_, &range_);
}

}  // namespace sluice
