// How the file is made, found and mapped. See shared_memory.hpp.
#include "system/shared_memory.hpp"

#include "system/descriptor.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// A few windows of the usual size. A folder with less is taken only when none has more.
constexpr std::uint64_t room_enough = std::uint64_t{16} << 20;

bool is_of(int fd, SharedMemoryName const& name) noexcept {
    struct stat s{};
    return fstat(fd, &s) == 0 && s.st_dev == name.device && s.st_ino == name.inode;
}

/// Where files in memory, and temporary files, may be; those with room first.
std::vector<std::string> folders() {
    char const* const chosen = std::getenv("TMPDIR");
    std::vector<std::string> roomy, tight;
    for (char const* folder : {"/dev/shm", chosen, "/tmp", "/var/tmp"}) {
        struct statvfs found{};
        if (!folder || !*folder || statvfs(folder, &found) != 0) continue;
        bool const enough = std::uint64_t{found.f_bavail} * found.f_frsize >= room_enough;
        (enough ? roomy : tight).emplace_back(folder);
    }
    roomy.insert(roomy.end(), tight.begin(), tight.end());
    return roomy;
}

}  // namespace

/// By number: older C libraries have no function for it.
int memory_file() noexcept {
#ifdef SYS_memfd_create
    constexpr unsigned close_on_exec = 1;
    return static_cast<int>(syscall(SYS_memfd_create, "sluice", close_on_exec));
#else
    return -1;
#endif
}

int open_unnamed(std::string const& folder) {
    int const fd = open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string path = folder + "/sluice-XXXXXX";
    int const named = mkostemp(path.data(), O_CLOEXEC);
    if (named >= 0) unlink(path.c_str());
    return named;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(mapping_, other.mapping_);
    std::swap(folder_, other.folder_);
    return *this;
}

SharedMemory::~SharedMemory() { release(); }

void SharedMemory::release() noexcept {
    mapping_ = {};
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
}

bool SharedMemory::map_all(std::size_t bytes) {
    Span const all{0, static_cast<Offset>(bytes)};
    auto mapping = part(all);
    if (!mapping || !mapping->open(all)) return false;
    mapping_ = std::move(*mapping);
    return true;
}

std::optional<Mapping> SharedMemory::part(Span part) const { return Mapping::of(fd_, part); }

bool SharedMemory::open_memfd(std::size_t bytes) noexcept {
    release();
    fd_ = memory_file();
    return fd_ >= 0 && set_length(fd_, static_cast<Bytes>(bytes)) == 0;
}

bool SharedMemory::open_in(std::string const& folder, std::size_t bytes) {
    release();
    fd_ = open_unnamed(folder);
    return fd_ >= 0 && set_length(fd_, static_cast<Bytes>(bytes)) == 0;
}

bool SharedMemory::make_file(std::size_t bytes) {
    for (std::string const& folder : folders()) {
        if (!open_in(folder, bytes)) continue;
        folder_ = folder;
        return true;
    }
    return false;
}

std::optional<SharedMemory> SharedMemory::create_unmapped(std::size_t bytes) {
    SharedMemory memory;
    if (!memory.open_memfd(bytes) && !memory.make_file(bytes)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::create(std::size_t bytes) {
    auto memory = create_unmapped(bytes);
    if (!memory || !memory->map_all(bytes)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::attach_unmapped(SharedMemoryName const& name) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(name.pid),
                  static_cast<long long>(name.fd));
    return adopt_unmapped(open(path, O_RDWR | O_CLOEXEC), name);
}

std::optional<SharedMemory> SharedMemory::adopt_unmapped(int fd, SharedMemoryName const& name) {
    SharedMemory memory;
    memory.fd_ = fd;
    if (fd < 0 || !is_of(fd, name)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::attach(SharedMemoryName const& name, std::size_t bytes) {
    auto memory = attach_unmapped(name);
    if (!memory || !memory->map_all(bytes)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::adopt(int fd, SharedMemoryName const& name,
                                                std::size_t bytes) {
    auto memory = adopt_unmapped(fd, name);
    if (!memory || !memory->map_all(bytes)) return std::nullopt;
    return memory;
}

std::optional<SharedMemory> SharedMemory::create_private(std::size_t bytes) {
    SharedMemory memory;
    if (!memory.map_all(bytes)) return std::nullopt;
    return memory;
}

SharedMemoryName SharedMemory::name() const noexcept {
    struct stat s{};
    if (fd_ < 0 || fstat(fd_, &s) != 0) return {};
    return {getpid(), fd_, s.st_dev, s.st_ino};
}

std::string SharedMemory::place() const {
    if (fd_ < 0) return "private memory";
    return folder_.empty() ? "memfd" : "unlinked file in " + folder_;
}

}  // namespace sluice
