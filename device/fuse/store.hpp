// Where the files of an emulated device are kept: in memory, or in a directory. Thread-safe; knows
// neither FUSE's sessions nor time. Every function returns 0 or the number of an error; whatever
// the arguments are, it touches no file outside.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <vector>

namespace sluice::device {

using Count = std::uint64_t;
using Inode = std::uint64_t;
constexpr Inode root_inode = 1;                      // FUSE's number for it
constexpr Count request_bytes_max = Count{1} << 20;  // the most that Linux puts into one request

/// A name that leads to an inode; whoever gets one holds a reference until forget().
struct Found {
    Inode inode = 0;
    struct stat attributes{};
};

struct Listed {
    std::string name;
    struct stat attributes{};
};

/// Who makes something.
struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

class Store {
public:
    virtual ~Store() = default;

    virtual int lookup(Inode parent, char const* name, Found& found) = 0;
    virtual void forget(Inode inode, std::uint64_t references) = 0;
    virtual int attributes(Inode inode, struct stat& now) = 0;
    /// `which`: FATTR_... of <linux/fuse.h>
    virtual int change(Inode inode, struct stat const& wanted, int which, struct stat& now) = 0;
    /// A file or a directory, as `mode` says.
    virtual int make(Inode parent, char const* name, mode_t mode, Owner owner, Found& found) = 0;
    virtual int make_symlink(Inode parent, char const* name, char const* target, Owner owner,
                             Found& found) = 0;
    virtual int symlink_target(Inode inode, std::string& target) = 0;
    virtual int make_link(Inode inode, Inode parent, char const* name, Found& found) = 0;
    virtual int remove(Inode parent, char const* name, bool directory) = 0;
    /// `flags`: of renameat2().
    virtual int rename(Inode parent, char const* name, Inode target_parent, char const* target,
                       unsigned flags) = 0;
    /// Appends at most `most` entries after the first so many.
    virtual int list(Inode inode, Count first, Count most, std::vector<Listed>& entries) = 0;
    virtual int space(struct statvfs& space) = 0;

    /// `flags`: of open(2). The handle is for this process only.
    virtual int open(Inode inode, int flags, std::uint64_t& handle) = 0;
    virtual void close(std::uint64_t handle) = 0;
    /// Fewer bytes only at the end of the file.
    virtual int read(Inode inode, std::uint64_t handle, Count bytes, Count offset,
                     std::vector<char>& data) = 0;
    virtual int write(Inode inode, std::uint64_t handle, char const* data, Count bytes,
                      Count offset) = 0;
    virtual int sync(std::uint64_t handle) = 0;
    /// Whether inodes and open files cost descriptors of this process.
    [[nodiscard]] virtual bool takes_descriptors() const = 0;
};

/// Holds at most `capacity` bytes.
[[nodiscard]] std::unique_ptr<Store> store_in_memory(Count capacity);
/// Over an existing directory; null where it cannot be opened: see errno.
[[nodiscard]] std::unique_ptr<Store> store_over(std::string const& directory);

}  // namespace sluice::device
