// Ranges are reserved with mmap, and parts opened with mprotect and fallocate. See mapping.hpp.
#include "system/mapping.hpp"

#include "system/page_bytes.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

/// An atomic "or" of nothing, done by the kernel: it backs a page without changing it, and a lack
/// of memory is an error of the call, where a program's own access would end it with a signal.
bool back_page(std::byte* at) noexcept {
    constexpr auto or_nothing = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
    for (;;) {
        if (syscall(SYS_futex, at, FUTEX_WAKE_OP, 0, nullptr, at, or_nothing) >= 0) return true;
        if (errno != EINTR && errno != EAGAIN) return false;
    }
}

bool back_pages(std::byte* data, Span range) noexcept {
    Offset const page = page_bytes();
    for (Offset at = range.begin / page * page; at < range.end; at += page) {
        if (!back_page(data + at)) return false;
    }
    return true;
}

/// Whether the refusal says that there is no room; else the call itself is not served.
bool tells_of_room(int error) noexcept {
    return error == ENOSPC || error == EDQUOT || error == ENOMEM || error == EFBIG || error == EIO;
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept { *this = std::move(other); }

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(begin_, other.begin_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Mapping::~Mapping() {
    if (data_) munmap(data_, bytes_);
}

/// Pages that nobody may touch are not made even where a program has all of its memory locked; and
/// once they are unlocked, those that are opened later are not made at once either.
std::optional<Mapping> Mapping::of(int fd, Span part) {
    auto const bytes = static_cast<std::size_t>(part.bytes());
    int const flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* const at = mmap(nullptr, bytes, PROT_NONE, flags | MAP_NORESERVE, fd,
                          fd >= 0 ? static_cast<off_t>(part.begin) : 0);
    if (at == MAP_FAILED) return std::nullopt;
    munlock(at, bytes);
    madvise(at, bytes, MADV_DONTDUMP);
    Mapping mapping;
    mapping.fd_ = fd;
    mapping.begin_ = part.begin;
    mapping.data_ = static_cast<std::byte*>(at);
    mapping.bytes_ = bytes;
    return mapping;
}

/// Each range that is opened by itself takes entries of the process's table of mappings, which is
/// bounded; the mapping as a whole is one.
bool Mapping::open(Span range) const noexcept {
    constexpr int access = PROT_READ | PROT_WRITE;
    Offset const begin = range.begin / page_bytes() * page_bytes();
    auto const bytes = static_cast<std::size_t>(range.end - begin);
    return mprotect(data_ + begin, bytes, access) == 0 || mprotect(data_, bytes_, access) == 0;
}

void Mapping::prefer_large_pages() const noexcept { madvise(data_, bytes_, MADV_HUGEPAGE); }

bool Mapping::reserve(Span range) const noexcept {
    if (!open(range)) return false;
    if (fd_ < 0) return true;  // Private memory: the kernel's overcommit decides.
    for (;;) {
        if (fallocate(fd_, 0, begin_ + range.begin, range.bytes()) == 0) return true;
        if (errno == EINTR) continue;
        return !tells_of_room(errno) && back_pages(data_, range);
    }
}

#ifdef MADV_POPULATE_READ

/// The system looks at each page as a read of it would.
static bool populate(std::byte const* first, std::size_t bytes) noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(first);
    std::uintptr_t const begin =
        at / static_cast<std::uintptr_t>(page_bytes()) * static_cast<std::uintptr_t>(page_bytes());
    auto* const page = reinterpret_cast<void*>(begin);
    int result = 0;
    do result = madvise(page, at - begin + bytes, MADV_POPULATE_READ);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool can_be_read(std::byte const* first, std::size_t bytes) noexcept {
    static std::byte const known{};
    static bool const is_told = populate(&known, 1);
    return !is_told || populate(first, bytes);
}

#else

bool can_be_read(std::byte const*, std::size_t) noexcept { return true; }

#endif

}  // namespace sluice
