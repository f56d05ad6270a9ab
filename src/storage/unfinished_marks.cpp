// Marks are read locks of open file descriptions. See unfinished_mark.hpp.
#include "storage/unfinished_mark.hpp"

#include <cerrno>
#include <fcntl.h>

namespace sluice {
namespace {

struct flock range_of(Span range, short type) noexcept {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = range.begin;
    lock.l_len = range.bytes();
    return lock;
}

bool ask(int fd, int how, struct flock& range) noexcept {
    while (fcntl(fd, how, &range) != 0) {
        if (errno != EINTR) return false;
    }
    return true;
}

}  // namespace

bool UnfinishedMark::open() noexcept {
    std::lock_guard const guard(mutex_);
    if (own_.get() >= 0) return true;
    own_ = Descriptor(::open(name_of_descriptor(fd_).c_str(), O_RDONLY | O_CLOEXEC));
    return own_.get() >= 0;
}

bool UnfinishedMark::hold(Span range) noexcept {
    if (!open()) return false;
    auto taken = range_of(range, F_RDLCK);
    return ask(own_.get(), F_OFD_SETLK, taken);
}

void UnfinishedMark::release(Span range) noexcept {
    auto given = range_of(range, F_UNLCK);
    ask(own_.get(), F_OFD_SETLK, given);
}

/// What is asked for is a write lock, which no mark would let pass; nothing is taken.
bool UnfinishedMark::is_held_by_others(Span range) noexcept {
    int const own = own_.get();
    auto wanted = range_of(range, F_WRLCK);
    return ask(own >= 0 ? own : fd_, F_OFD_GETLK, wanted) && wanted.l_type != F_UNLCK;
}

}  // namespace sluice
