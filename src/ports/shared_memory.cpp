// memfd_create, mmap and /proc. See shared_memory.hpp.
#include "ports/shared_memory.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

/// Growing a file beyond the process's limit would end it with a signal.
bool allowed_by_limit(std::size_t bytes) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

std::uint64_t inode_of(int fd) noexcept {
    struct stat s{};
    return fstat(fd, &s) == 0 ? s.st_ino : 0;
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

SharedMemory::~SharedMemory() { release(); }

void SharedMemory::release() noexcept {
    if (data_) munmap(data_, bytes_);
    if (fd_ >= 0) close(fd_);
    data_ = nullptr;
    fd_ = -1;
}

bool SharedMemory::map(std::size_t bytes, bool shared) noexcept {
    int const flags = shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, shared ? fd_ : -1, 0);
    if (at == MAP_FAILED) return false;
    data_ = static_cast<std::byte*>(at);
    bytes_ = bytes;
    return true;
}

std::optional<SharedMemory> SharedMemory::create(std::size_t bytes) {
    SharedMemory memory;
    if (!allowed_by_limit(bytes)) return std::nullopt;
    memory.fd_ = memfd_create("sluice", MFD_CLOEXEC);
    if (memory.fd_ < 0 || ftruncate(memory.fd_, static_cast<off_t>(bytes)) != 0)
        return std::nullopt;
    if (!memory.map(bytes, true)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::attach(SharedMemoryName const& name, std::size_t bytes) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(name.pid),
                  static_cast<long long>(name.fd));
    SharedMemory memory;
    memory.fd_ = open(path, O_RDWR | O_CLOEXEC);
    if (memory.fd_ < 0 || inode_of(memory.fd_) != name.inode) return std::nullopt;
    if (!memory.map(bytes, true)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::create_private(std::size_t bytes) {
    SharedMemory memory;
    if (!memory.map(bytes, false)) return std::nullopt;
    return memory;
}

SharedMemoryName SharedMemory::name() const noexcept {
    return {getpid(), fd_, fd_ >= 0 ? inode_of(fd_) : 0};
}

bool SharedMemory::reserve(Span range) const noexcept {
    if (fd_ < 0) return true;  // Private memory: the kernel's overcommit decides.
    for (;;) {
        if (fallocate(fd_, 0, range.begin, range.bytes()) == 0) return true;
        if (errno != EINTR) return false;
    }
}

}  // namespace sluice
