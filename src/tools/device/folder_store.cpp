// Files of a directory, reached through descriptors that hold the places of inodes. See store.hpp.
#define FUSE_USE_VERSION 312
#include <dirent.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>

#include "tools/device/store.hpp"

namespace sluice::device {
namespace {

int error_of(int result) { return result < 0 ? errno : 0; }

/// An inode of the directory: a descriptor that names it without opening it.
struct Place {
    int fd = -1;
    std::pair<dev_t, ino_t> key;
    std::uint64_t references = 0;
};

class FolderStore final : public Store {
public:
    explicit FolderStore(int root) {
        struct stat s{};
        fstat(root, &s);
        places_[root_inode] = {root, {s.st_dev, s.st_ino}, 1};
        inodes_[{s.st_dev, s.st_ino}] = root_inode;
    }
    ~FolderStore() override {
        for (auto const& [inode, place] : places_) ::close(place.fd);
    }

    int lookup(Inode parent, char const* name, Found& found) override {
        int const fd = openat(at(parent), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) return errno;
        if (int const error = error_of(fstat(fd, &found.attributes)); error != 0)
            return ::close(fd), error;
        std::scoped_lock const lock(mutex_);
        auto const [known, is_new] =
            inodes_.try_emplace({found.attributes.st_dev, found.attributes.st_ino}, next_inode_);
        if (is_new)
            places_[next_inode_++] = {fd, known->first, 0};
        else
            ::close(fd);
        ++places_[known->second].references;
        found.inode = known->second;
        return 0;
    }

    void forget(Inode inode, std::uint64_t references) override {
        std::scoped_lock const lock(mutex_);
        auto const found = places_.find(inode);
        if (found == places_.end()) return;
        auto& place = found->second;
        place.references -= std::min(place.references, references);
        if (place.references > 0 || inode == root_inode) return;
        ::close(place.fd);
        inodes_.erase(place.key);
        places_.erase(found);
    }

    int attributes(Inode inode, struct stat& now) override {
        return error_of(fstat(at(inode), &now));
    }

    int change(Inode inode, struct stat const& wanted, int which, struct stat& now) override {
        std::string const path = path_of(inode);
        int error = 0;
        if (which & FUSE_SET_ATTR_MODE) error = error_of(chmod(path.c_str(), wanted.st_mode));
        if (error == 0 && (which & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))) {
            auto const user = which & FUSE_SET_ATTR_UID ? wanted.st_uid : uid_t(-1);
            auto const group = which & FUSE_SET_ATTR_GID ? wanted.st_gid : gid_t(-1);
            error = error_of(fchownat(at(inode), "", user, group, AT_EMPTY_PATH));
        }
        if (error == 0 && (which & FUSE_SET_ATTR_SIZE))
            error = error_of(truncate(path.c_str(), wanted.st_size));
        timespec const times[] = {
            time_of(wanted.st_atim, which & FUSE_SET_ATTR_ATIME, which & FUSE_SET_ATTR_ATIME_NOW),
            time_of(wanted.st_mtim, which & FUSE_SET_ATTR_MTIME, which & FUSE_SET_ATTR_MTIME_NOW)};
        bool const timed = times[0].tv_nsec != UTIME_OMIT || times[1].tv_nsec != UTIME_OMIT;
        if (error == 0 && timed) error = error_of(utimensat(AT_FDCWD, path.c_str(), times, 0));
        return error == 0 ? attributes(inode, now) : error;
    }

    int make(Inode parent, char const* name, mode_t mode, Owner owner, Found& found) override {
        int const folder = at(parent);
        int const error = error_of(S_ISDIR(mode) ? mkdirat(folder, name, mode & 07777)
                                                 : mknodat(folder, name, mode, 0));
        return error == 0 ? give(parent, name, owner, found) : error;
    }

    int make_symlink(Inode parent, char const* name, char const* target, Owner owner,
                     Found& found) override {
        int const error = error_of(symlinkat(target, at(parent), name));
        return error == 0 ? give(parent, name, owner, found) : error;
    }

    int symlink_target(Inode inode, std::string& target) override {
        char buffer[4096];
        auto const length = readlinkat(at(inode), "", buffer, sizeof buffer);
        if (length < 0) return errno;
        target.assign(buffer, size_t(length));
        return 0;
    }

    int make_link(Inode inode, Inode parent, char const* name, Found& found) override {
        int const error =
            error_of(linkat(AT_FDCWD, path_of(inode).c_str(), at(parent), name, AT_SYMLINK_FOLLOW));
        return error == 0 ? lookup(parent, name, found) : error;
    }

    int remove(Inode parent, char const* name, bool directory) override {
        return error_of(unlinkat(at(parent), name, directory ? AT_REMOVEDIR : 0));
    }

    int rename(Inode parent, char const* name, Inode target_parent, char const* target,
               unsigned flags) override {
        return error_of(renameat2(at(parent), name, at(target_parent), target, flags));
    }

    int list(Inode inode, std::vector<Listed>& all) override {
        int const fd = openat(at(inode), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
        if (folder == nullptr) return errno;
        while (auto const* entry = readdir(folder)) {
            std::string const name = entry->d_name;
            struct stat s{};
            s.st_ino = entry->d_ino, s.st_mode = DTTOIF(entry->d_type);
            if (name != "." && name != "..") all.push_back({name, s});
        }
        closedir(folder);
        return 0;
    }

    int space(struct statvfs& s) override { return error_of(fstatvfs(at(root_inode), &s)); }

    /// The kernel's cache reads around what is written, so all descriptors read; and it knows where
    /// the end is, so none appends by itself. Alignment is the caller's matter, not that of the
    /// buffers here.
    int open(Inode inode, int flags, std::uint64_t& handle) override {
        int own = flags & ~(O_NOFOLLOW | O_DIRECT | O_APPEND | O_CREAT | O_EXCL);
        if ((flags & O_ACCMODE) == O_WRONLY) own = (own & ~O_ACCMODE) | O_RDWR;
        std::string const path = path_of(inode);
        int fd = ::open(path.c_str(), own | O_CLOEXEC);
        if (fd < 0 && errno == EACCES && (flags & O_ACCMODE) == O_WRONLY)
            fd = ::open(path.c_str(), (own & ~O_ACCMODE) | O_WRONLY | O_CLOEXEC);
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

private:
    int at(Inode inode) {
        std::scoped_lock const lock(mutex_);
        auto const found = places_.find(inode);
        return found == places_.end() ? -1 : found->second.fd;
    }

    /// What calls reach that take no descriptor of this kind.
    std::string path_of(Inode inode) { return "/proc/self/fd/" + std::to_string(at(inode)); }

    static timespec time_of(timespec const& wanted, int set, int now) {
        if (now != 0) return {0, UTIME_NOW};
        return set != 0 ? wanted : timespec{0, UTIME_OMIT};
    }

    /// What was made belongs to who asked for it, as far as this process may say so.
    int give(Inode parent, char const* name, Owner owner, Found& found) {
        if (geteuid() == 0 &&
            fchownat(at(parent), name, owner.user, owner.group, AT_SYMLINK_NOFOLLOW) != 0)
            return errno;
        return lookup(parent, name, found);
    }

    std::mutex mutex_;
    std::map<Inode, Place> places_;
    std::map<std::pair<dev_t, ino_t>, Inode> inodes_;
    Inode next_inode_ = root_inode + 1;
};

}  // namespace

std::unique_ptr<Store> store_over(std::string const& directory) {
    int const root = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root < 0 ? nullptr : std::make_unique<FolderStore>(root);
}

}  // namespace sluice::device
