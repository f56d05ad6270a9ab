// One class of MPI's for each errno. See errno_status.hpp.
#include "system/errno_status.hpp"

#include <cerrno>

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

}  // namespace sluice
