// A RangeLock holds a lock of a range of a file against all others who lock ranges: other handles
// of this process, other processes, and MPIs in atomic mode.
#pragma once
#include "base/error.hpp"
#include "base/request.hpp"

#include <fcntl.h>
#include <memory>
#include <mutex>

namespace sluice {

/// Held while it lives. Blocks. The lock belongs to the descriptor; where the system knows no such
/// locks (Linux before 3.15, some file systems) to the process, whose handles then take turns.
class RangeLock {
public:
    /// A read lock needs a descriptor that reads, a write lock one that writes.
    RangeLock(int fd, Direction direction, Span range);
    ~RangeLock();
    RangeLock(RangeLock const&) = delete;
    RangeLock& operator=(RangeLock const&) = delete;

    /// Why there is no lock.
    [[nodiscard]] Error const& error() const noexcept { return error_; }

private:
    int fd_;
    struct flock range_{};
    int release_by_ = F_OFD_SETLK;
    std::shared_ptr<std::mutex> turns_;  ///< Between handles of the process, where locks are its.
    std::unique_lock<std::mutex> turn_;
    Error error_;
};

}  // namespace sluice
