// Numbers come from getrandom, or from /dev/urandom where a kernel or a filter of system calls
// refuses it. See random.hpp.
#include "system/random.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

/// By number: older C libraries have no function for it. Up to 256 bytes come as a whole.
bool ask_kernel(void* data, std::size_t bytes) noexcept {
#ifdef SYS_getrandom
    for (;;) {
        long const got = syscall(SYS_getrandom, data, bytes, 0);
        if (got >= 0) return static_cast<std::size_t>(got) == bytes;
        if (errno != EINTR) return false;
    }
#else
    (void)data, (void)bytes;
    return false;
#endif
}

bool read_device(void* data, std::size_t bytes) noexcept {
    int const fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t const got = read(fd, data, bytes);
    close(fd);
    return got >= 0 && static_cast<std::size_t>(got) == bytes;
}

}  // namespace

std::optional<std::uint64_t> SystemRandom::operator()() noexcept {
    if (left_ == 0) {
        if (!ask_kernel(words_.data(), sizeof words_) && !read_device(words_.data(), sizeof words_))
            return std::nullopt;
        left_ = words_.size();
    }
    return words_[--left_];
}

}  // namespace sluice
