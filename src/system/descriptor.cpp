// How files are opened, identified with statx and found in /proc/self/fd. See descriptor.hpp.
#include "system/descriptor.hpp"

#include "system/errno_status.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <linux/fs.h>
#include <linux/magic.h>
#include <map>
#include <mutex>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr char const* own_descriptors = "/proc/self/fd";
// Types of file systems, of which older headers of Linux do not name all.
constexpr std::uint32_t nfs = 0x6969, smb = 0xff534d42, smb2 = 0xfe534d42, afs = 0x6b414653,
                        openafs = 0x5346414f;
constexpr std::uint32_t ext = 0xef53, xfs = 0x58465342, btrfs = 0x9123683e, overlay = 0x794c7630,
                        f2fs = 0xf2f52010, zfs = 0x2fc12fc1, ramfs = 0x858458f6;

int flags_of(AccessMode mode) noexcept {
    int const way = mode == AccessMode::read    ? O_RDONLY
                    : mode == AccessMode::write ? O_WRONLY
                                                : O_RDWR;
    return way | O_CLOEXEC;
}

/// The limit that the program had, and whether numbers above it are this library's.
struct ProgramLimit {
    rlim_t most = RLIM_INFINITY;
    bool is_raised = false;
};

/// The first call raises it as far as the system lets it, and no farther than to twice as much.
ProgramLimit limit_of_program() noexcept {
    static ProgramLimit const limit = []() -> ProgramLimit {
        rlimit found{};
        if (getrlimit(RLIMIT_NOFILE, &found) != 0) return {};
        rlimit raised = found;
        raised.rlim_cur = std::min(found.rlim_max, 2 * std::min(found.rlim_cur, RLIM_INFINITY / 2));
        bool const is_raised =
            raised.rlim_cur > found.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0;
        return {found.rlim_cur, is_raised};
    }();
    return limit;
}

OpenedFile open_by(char const* name, int flags) noexcept {
    int fd = open(name, flags);
    while (fd < 0 && errno == EINTR) fd = open(name, flags);
    if (fd < 0) return {Descriptor(), system_error("open", errno)};
    return out_of_the_way(Descriptor(fd));
}

/// Calls `visit` with each descriptor of the process, until it says true. Whether it did.
template <typename Visit> bool any_descriptor(Visit const& visit) noexcept {
    DIR* const all = opendir(own_descriptors);
    if (all == nullptr) return false;
    bool found = false;
    for (dirent const* entry = readdir(all); entry && !found; entry = readdir(all)) {
        int fd = -1;
        char const* const end = entry->d_name + std::strlen(entry->d_name);
        bool const is_number = std::from_chars(entry->d_name, end, fd).ec == std::errc{};
        found = is_number && visit(fd);
    }
    closedir(all);
    return found;
}

Consistency consistency_by_type(int fd) noexcept {
    struct statfs found{};
    if (fstatfs(fd, &found) != 0) return Consistency::late_errors;
    switch (static_cast<std::uint32_t>(found.f_type)) {
    case nfs:
    case smb:
    case smb2:
    case afs:
    case openafs:
        return Consistency::close_to_open;
    case ext:
    case xfs:
    case btrfs:
    case overlay:
    case f2fs:
    case zfs:
    case ramfs:
    case TMPFS_MAGIC:
        return Consistency::posix;
    default:
        return Consistency::late_errors;
    }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

/// A close that a signal has interrupted has closed the descriptor.
int Descriptor::close() noexcept {
    int const fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0 || errno == EINTR ? 0 : errno;
}

OpenedFile out_of_the_way(Descriptor opened) noexcept {
    constexpr rlim_t most = std::numeric_limits<int>::max();
    auto const [limit, is_raised] = limit_of_program();
    if (limit > most) return {std::move(opened), {}};
    int const moved =
        is_raised ? fcntl(opened.get(), F_DUPFD_CLOEXEC, static_cast<int>(limit)) : -1;
    if (moved >= 0) return {Descriptor(moved), {}};
    if (static_cast<rlim_t>(opened.get()) < limit / 2) return {std::move(opened), {}};
    return {Descriptor(), system_error("open beside the program's descriptors", EMFILE)};
}

/// Without a descriptor there is no need to ask twice; where the system knows no statx, or forbids
/// it, there is.
std::optional<FileIdentity> identity_of(int fd) noexcept {
#ifdef STATX_INO
    struct statx told{};
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &told) == 0)
        return FileIdentity{makedev(told.stx_dev_major, told.stx_dev_minor), told.stx_ino};
    if (errno == EBADF) return std::nullopt;
#endif
    struct stat about{};
    if (fstat(fd, &about) != 0) return std::nullopt;
    return FileIdentity{about.st_dev, about.st_ino};
}

std::optional<bool> FileBirth::is_same(FileBirth const& other) const noexcept {
    bool const has_times = time != 0 && other.time != 0;
    bool const has_generations = generation != 0 && other.generation != 0;
    if (!has_times && !has_generations) return std::nullopt;
    return (!has_times || time == other.time) &&
           (!has_generations || generation == other.generation);
}

FileBirth birth_of(int fd) noexcept {
    FileBirth birth;
    int generation = 0;
    if (ioctl(fd, FS_IOC_GETVERSION, &generation) == 0)
        birth.generation = static_cast<std::uint32_t>(generation);
#ifdef STATX_BTIME
    constexpr std::int64_t second_ns = 1'000'000'000;
    struct statx told{};
    bool const is_told =
        statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &told) == 0 && (told.stx_mask & STATX_BTIME) != 0;
    if (is_told) birth.time = told.stx_btime.tv_sec * second_ns + told.stx_btime.tv_nsec;
#endif
    return birth;
}

/// Descriptors that were opened one after the other have neighbouring numbers, mostly as far from
/// each other as the last time; the list of all is read where they have not.
bool held_beside(int fd, FileIdentity const& file) noexcept {
    constexpr int neighbours = 8;
    static std::atomic<int> last_distance{-1};
    auto const is_same = [&](int other) {
        return other >= 0 && other != fd && identity_of(other) == file;
    };
    if (is_same(fd + last_distance)) return true;
    for (int distance = -neighbours; distance <= neighbours; ++distance) {
        if (!is_same(fd + distance)) continue;
        last_distance = distance;
        return true;
    }
    return any_descriptor(is_same);
}

OpenedFile open_file(std::string const& path, AccessMode mode, bool durable) {
    int const sync = durable ? O_DSYNC : 0;
    if (mode == AccessMode::write) {
        auto opened = open_by(path.c_str(), flags_of(AccessMode::both) | sync);
        if (!opened.error) return opened;
    }
    return open_by(path.c_str(), flags_of(mode) | sync);
}

int sync_data(int fd) noexcept {
    while (fdatasync(fd) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

bool is_in_memory(int fd) noexcept {
    struct statfs found{};
    return fstatfs(fd, &found) == 0 && found.f_type == TMPFS_MAGIC;
}

bool takes_stores(int fd) noexcept {
    struct statfs found{};
    if (fstatfs(fd, &found) != 0) return false;
    auto const type = static_cast<std::uint32_t>(found.f_type);
    bool const was_tried = type == TMPFS_MAGIC || type == ext || type == xfs;
    int const flags = fcntl(fd, F_GETFL);
    int attributes = 0;  // Of the file; a tmpfs may have none.
    bool const is_synchronous =
        (flags & O_DSYNC) != 0 ||
        (static_cast<unsigned long>(found.f_flags) & ST_SYNCHRONOUS) != 0 ||
        (ioctl(fd, FS_IOC_GETFLAGS, &attributes) == 0 && (attributes & FS_SYNC_FL) != 0);
    return was_tried && flags >= 0 && (flags & O_ACCMODE) == O_RDWR && !is_synchronous;
}

Consistency consistency_of(int fd, FileIdentity const& file) {
    static std::mutex mutex;
    static auto* const known = new std::map<std::uint64_t, Consistency>;
    std::lock_guard const lock(mutex);
    auto const [found, is_new] = known->try_emplace(file.device, Consistency::posix);
    if (is_new) found->second = consistency_by_type(fd);
    return found->second;
}

int set_length(int fd, Bytes bytes) noexcept {
    rlimit limit{};
    bool const is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (is_limited && static_cast<rlim_t>(bytes) > limit.rlim_cur) return EFBIG;
    return ftruncate(fd, bytes) == 0 ? 0 : errno;
}

std::string name_of_descriptor(int fd) {
    return std::string(own_descriptors) + "/" + std::to_string(fd);
}

Descriptor open_past_cache(int fd, AccessMode mode) {
    int const durable = fcntl(fd, F_GETFL) & O_DSYNC;
    return open_by(name_of_descriptor(fd).c_str(), flags_of(mode) | O_DIRECT | durable).descriptor;
}

}  // namespace sluice
