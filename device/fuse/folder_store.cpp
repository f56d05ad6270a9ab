// Files of a directory, reached through descriptors that hold the places of inodes. See store.hpp.
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>

#include "device/fuse/message.hpp"
#include "device/fuse/store.hpp"

namespace sluice::device {
namespace {

int error_of(int result) { return result < 0 ? errno : 0; }

using Key = std::pair<dev_t, ino_t>;

/// An inode of the directory: a descriptor that names it without opening it. Who uses it holds it,
/// as its number may stand for another file once it is closed.
struct Place {
    Place(int its_fd, Key its_key) : fd(its_fd), key(its_key) {}
    Place(Place const&) = delete;
    Place& operator=(Place const&) = delete;
    ~Place() {
        if (fd >= 0) ::close(fd);
    }
    /// What calls reach that take no descriptor of this kind.
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

    int const fd;
    Key const key;
    std::uint64_t references = 0;
};
using PlacePtr = std::shared_ptr<Place>;

/// Names an entry of the directory itself: no link leads away from it. A kernel before 5.6 and some
/// sandboxes know no openat2; the name was looked at, and a link is not followed there either.
int open_entry(int directory, char const* name) {
    static std::atomic<bool> known{true};
    open_how how{};
    how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    if (known) {
        auto const fd = syscall(SYS_openat2, directory, name, &how, sizeof how);
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
        if (errno == ENOSYS) known = false;
    }
    return openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

class FolderStore final : public Store {
public:
    explicit FolderStore(int root) {
        struct stat s{};
        fstat(root, &s);
        places_[root_inode] = std::make_shared<Place>(root, Key{s.st_dev, s.st_ino});
        inodes_[{s.st_dev, s.st_ino}] = root_inode;
    }

    int lookup(Inode parent, char const* name, Found& found) override {
        if (int const error = error_of_name(name); error != 0) return error;
        int const fd = open_entry(at(parent)->fd, name);
        if (fd < 0) return errno;
        auto& s = found.attributes;
        int const error = error_of(fstat(fd, &s));
        auto place = std::make_shared<Place>(fd, Key{s.st_dev, s.st_ino});
        if (error != 0) return error;
        std::scoped_lock const lock(mutex_);
        auto const [known, is_new] = inodes_.try_emplace(place->key, next_inode_);
        if (is_new) places_[next_inode_++] = std::move(place);
        ++places_[known->second]->references;
        found.inode = known->second;
        return 0;
    }

    void forget(Inode inode, std::uint64_t references) override {
        std::scoped_lock const lock(mutex_);
        auto const found = places_.find(inode);
        if (found == places_.end()) return;
        auto& place = *found->second;
        place.references -= std::min(place.references, references);
        if (place.references > 0 || inode == root_inode) return;
        inodes_.erase(place.key);
        places_.erase(found);
    }

    int attributes(Inode inode, struct stat& now) override {
        return error_of(fstat(at(inode)->fd, &now));
    }

    int change(Inode inode, struct stat const& wanted, int which, struct stat& now) override {
        auto const place = at(inode);
        std::string const path = place->path();
        int error = 0;
        if (which & FATTR_MODE) error = error_of(chmod(path.c_str(), wanted.st_mode & 07777));
        if (error == 0 && (which & (FATTR_UID | FATTR_GID))) {
            auto const user = which & FATTR_UID ? wanted.st_uid : uid_t(-1);
            auto const group = which & FATTR_GID ? wanted.st_gid : gid_t(-1);
            error = error_of(fchownat(place->fd, "", user, group, AT_EMPTY_PATH));
        }
        if (error == 0 && (which & FATTR_SIZE))
            error = error_of(truncate(path.c_str(), wanted.st_size));
        timespec const times[] = {
            time_of(wanted.st_atim, which & FATTR_ATIME, which & FATTR_ATIME_NOW),
            time_of(wanted.st_mtim, which & FATTR_MTIME, which & FATTR_MTIME_NOW)};
        bool const timed = times[0].tv_nsec != UTIME_OMIT || times[1].tv_nsec != UTIME_OMIT;
        if (error == 0 && timed) error = error_of(utimensat(AT_FDCWD, path.c_str(), times, 0));
        return error == 0 ? attributes(inode, now) : error;
    }

    int make(Inode parent, char const* name, mode_t mode, Owner owner, Found& found) override {
        if (int const error = error_of_name(name); error != 0) return error;
        auto const place = at(parent);
        int const error =
            error_of(S_ISDIR(mode) ? mkdirat(place->fd, name, mode & 07777)
                                   : mknodat(place->fd, name, S_IFREG | (mode & 07777), 0));
        return error == 0 ? give(*place, name, owner, parent, found) : error;
    }

    int make_symlink(Inode parent, char const* name, char const* target, Owner owner,
                     Found& found) override {
        if (int const error = error_of_name(name); error != 0) return error;
        auto const place = at(parent);
        int const error = error_of(symlinkat(target, place->fd, name));
        return error == 0 ? give(*place, name, owner, parent, found) : error;
    }

    int symlink_target(Inode inode, std::string& target) override {
        char buffer[4096];
        auto const length = readlinkat(at(inode)->fd, "", buffer, sizeof buffer);
        if (length < 0) return errno;
        target.assign(buffer, size_t(length));
        return 0;
    }

    int make_link(Inode inode, Inode parent, char const* name, Found& found) override {
        if (int const error = error_of_name(name); error != 0) return error;
        auto const place = at(inode);
        int const error = error_of(
            linkat(AT_FDCWD, place->path().c_str(), at(parent)->fd, name, AT_SYMLINK_FOLLOW));
        return error == 0 ? lookup(parent, name, found) : error;
    }

    int remove(Inode parent, char const* name, bool directory) override {
        if (int const error = error_of_name(name); error != 0) return error;
        return error_of(unlinkat(at(parent)->fd, name, directory ? AT_REMOVEDIR : 0));
    }

    int rename(Inode parent, char const* name, Inode target_parent, char const* target,
               unsigned flags) override {
        if (int const error = error_of_name(name); error != 0) return error;
        if (int const error = error_of_name(target); error != 0) return error;
        // What else there is makes a device.
        if ((flags & ~unsigned(RENAME_NOREPLACE | RENAME_EXCHANGE)) != 0) return EINVAL;
        return error_of(renameat2(at(parent)->fd, name, at(target_parent)->fd, target, flags));
    }

    int list(Inode inode, Count first, Count most, std::vector<Listed>& entries) override {
        int const fd = openat(at(inode)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
        if (folder == nullptr) return errno;
        while (auto const* entry = most > 0 ? readdir(folder) : nullptr) {
            std::string const name = entry->d_name;
            if (name == "." || name == "..") continue;
            if (first > 0) {
                --first;
                continue;
            }
            struct stat s{};
            s.st_ino = entry->d_ino, s.st_mode = mode_t(DTTOIF(entry->d_type));
            entries.push_back({name, s});
            --most;
        }
        closedir(folder);
        return 0;
    }

    int space(struct statvfs& s) override { return error_of(fstatvfs(at(root_inode)->fd, &s)); }

    /// The kernel's cache reads around what is written, so all descriptors read; and it knows where
    /// the end is, so none appends by itself. Alignment is the caller's matter, not that of the
    /// buffers here. A kernel opens pipes and devices by itself; here they would block, or be more
    /// than a file.
    int open(Inode inode, int flags, std::uint64_t& handle) override {
        auto const place = at(inode);
        struct stat s{};
        if (int const error = error_of(fstat(place->fd, &s)); error != 0) return error;
        if (!S_ISREG(s.st_mode)) return S_ISDIR(s.st_mode) ? EISDIR : ENXIO;
        int const access = flags & O_ACCMODE;
        if (access == O_ACCMODE) return EINVAL;
        int const own = (flags & (O_TRUNC | O_SYNC | O_DSYNC)) | O_CLOEXEC | O_NONBLOCK;
        std::string const path = place->path();
        int fd = ::open(path.c_str(), own | (access == O_WRONLY ? O_RDWR : access));
        if (fd < 0 && errno == EACCES && access == O_WRONLY)
            fd = ::open(path.c_str(), own | O_WRONLY);
        handle = std::uint64_t(fd);
        return error_of(fd);
    }

    void close(std::uint64_t handle) override { ::close(int(handle)); }

    int read(Inode, std::uint64_t handle, Count bytes, Count offset,
             std::vector<char>& data) override {
        data.resize(bytes);
        Count done = 0;
        while (done < bytes) {
            auto const got = pread(int(handle), &data[done], bytes - done, off_t(offset + done));
            if (got < 0 && errno != EINTR) return errno;
            if (got == 0) break;
            done += got > 0 ? Count(got) : 0;
        }
        data.resize(done);
        return 0;
    }

    int write(Inode, std::uint64_t handle, char const* data, Count bytes, Count offset) override {
        for (Count done = 0; done < bytes;) {
            auto const put = pwrite(int(handle), data + done, bytes - done, off_t(offset + done));
            if (put < 0 && errno != EINTR) return errno;
            done += put > 0 ? Count(put) : 0;
        }
        return 0;
    }

    int sync(std::uint64_t handle) override { return error_of(fdatasync(int(handle))); }

    [[nodiscard]] bool takes_descriptors() const override { return true; }

private:
    /// One that no call accepts where there is no such inode.
    PlacePtr at(Inode inode) {
        static PlacePtr const nowhere = std::make_shared<Place>(-1, Key{});
        std::scoped_lock const lock(mutex_);
        auto const found = places_.find(inode);
        return found == places_.end() ? nowhere : found->second;
    }

    static timespec time_of(timespec const& wanted, int set, int now) {
        if (now != 0) return {0, UTIME_NOW};
        return set != 0 ? wanted : timespec{0, UTIME_OMIT};
    }

    /// What was made belongs to who asked for it, as far as this process may say so.
    int give(Place const& place, char const* name, Owner owner, Inode parent, Found& found) {
        if (geteuid() == 0 &&
            fchownat(place.fd, name, owner.user, owner.group, AT_SYMLINK_NOFOLLOW) != 0)
            return errno;
        return lookup(parent, name, found);
    }

    std::mutex mutex_;
    std::map<Inode, PlacePtr> places_;
    std::map<Key, Inode> inodes_;
    Inode next_inode_ = root_inode + 1;
};

}  // namespace

std::unique_ptr<Store> store_over(std::string const& directory) {
    int const root = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root < 0 ? nullptr : std::make_unique<FolderStore>(root);
}

}  // namespace sluice::device
