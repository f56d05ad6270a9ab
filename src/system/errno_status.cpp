// Each errno has one of MPI's error classes. See errno_status.hpp.
#include "system/errno_status.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace sluice {

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

Error system_error(char const* call, int error, Bytes bytes, Offset offset) noexcept {
    if (error == 0) return {};
    return {status_of_errno(error), Error::Source::system, error, call, bytes, offset};
}

/// Older C libraries do not know the names.
std::string errno_text(int error) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
    char const* const name = strerrorname_np(error);
#else
    char const* const name = nullptr;
#endif
    std::string const text = std::generic_category().message(error);
    return text + " (" + (name ? name : "errno " + std::to_string(error)) + ")";
}

std::string with_errno(std::string const& what) { return what + ": " + errno_text(errno); }

}  // namespace sluice
