// See readable.hpp.
#include "system/readable.hpp"

#include "system/descriptor.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace sluice {

bool is_readable(void const* byte) noexcept {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return true;
    Descriptor const from(ends[0]), to(ends[1]);
    return write(to.get(), byte, 1) == 1 || errno != EFAULT;
}

}  // namespace sluice
