// The last write tells of the next one, and the kind of file system of the first. See
// storage_speed.hpp.
#include "behind/storage_speed.hpp"

#include <algorithm>
#include <linux/magic.h>
#include <sys/vfs.h>

namespace sluice {
namespace {

/// Storage that takes bytes this fast is a page cache: a copy would cost as much as it hides.
constexpr double fast_bytes_a_second = 1 << 30;
constexpr double fast_seconds = 100e-6;  ///< For what a transfer costs whatever its length.

/// Local file systems, whose writes go to the page cache until too much of it waits for the device.
/// Those of networks, and in user space, may be of any speed.
bool writes_to_memory(int fd) noexcept {
    constexpr long xfs = 0x58465342;  // Older headers of the system have no name for it.
    constexpr long cached[] = {TMPFS_MAGIC,       RAMFS_MAGIC,      EXT4_SUPER_MAGIC,     xfs,
                               BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC};
    struct statfs found{};
    return fd >= 0 && fstatfs(fd, &found) == 0 &&
           std::ranges::find(cached, static_cast<long>(found.f_type)) != std::end(cached);
}

}  // namespace

StorageSpeed::StorageSpeed(int fd, SpeedRules rules) noexcept : rules_(rules) {
    is_fast_[0] = is_fast_[1] = !rules.always_slow && !rules.past_cache && writes_to_memory(fd);
}

/// A header of some bytes says nothing of how long the data will take.
bool StorageSpeed::is_long(Bytes bytes) noexcept { return bytes >= Bytes{256} << 10; }

/// A short write takes no longer than handing it to another thread; but a slow device would serve
/// it behind all delayed bytes that it already has.
bool StorageSpeed::pays_to_delay(Bytes bytes, bool busy) const noexcept {
    bool const is_free = rules_.spare_cores && is_long(bytes);
    bool const waits = busy && !is_fast_[1];
    return is_free || waits || !is_fast_[is_long(bytes) ? 1 : 0];
}

void StorageSpeed::note(Bytes bytes, double seconds) noexcept {
    if (bytes <= 0) return;
    is_fast_[is_long(bytes) ? 1 : 0] =
        !rules_.always_slow &&
        seconds < fast_seconds + static_cast<double>(bytes) / fast_bytes_a_second;
}

}  // namespace sluice
