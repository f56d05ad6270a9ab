// Files in memory: a tree of nodes, found by inode number. See store.hpp.
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <map>

#include "device/fuse/contents.hpp"
#include "device/fuse/message.hpp"

namespace sluice::device {
namespace {

struct Node {
    explicit Node(std::atomic<Count>& left) : contents(left) {}
    struct stat attributes{};
    Contents contents;
    std::map<std::string, Inode> entries;  // of a directory
    std::string target;                    // of a symbolic link
    std::uint64_t references = 0;
    Inode parent = 0;  // of a directory
};
using NodePtr = std::shared_ptr<Node>;

struct stat attributes_of(Node const& node) {
    auto result = node.attributes;
    if (S_ISREG(result.st_mode)) result.st_size = off_t(node.contents.size());
    result.st_blocks = blkcnt_t(node.contents.bytes_used() / 512);
    result.st_blksize = 4096;
    return result;
}

void touch(struct timespec& time) { clock_gettime(CLOCK_REALTIME, &time); }

class MemoryStore final : public Store {
public:
    explicit MemoryStore(Count capacity)
        : capacity_(capacity),
          left_(capacity),
          names_max_(std::clamp(capacity / 4096, Count{1} << 10, Count{1} << 20)) {
        make_node(S_IFDIR | 0777, {geteuid(), getegid()})->references = 1;
    }

    int lookup(Inode parent, char const* name, Found& found) override {
        std::scoped_lock const lock(mutex_);
        auto const directory = find(parent);
        if (!directory) return ENOENT;
        auto const entry = directory->entries.find(name);
        if (entry == directory->entries.end()) return ENOENT;
        return refer(*nodes_.at(entry->second), found);
    }

    void forget(Inode inode, std::uint64_t references) override {
        std::scoped_lock const lock(mutex_);
        auto const node = find(inode);
        if (!node) return;
        node->references -= std::min(node->references, references);
        drop_if_unused(*node);
    }

    int attributes(Inode inode, struct stat& now) override {
        std::scoped_lock const lock(mutex_);
        auto const node = find(inode);
        if (!node) return ENOENT;
        now = attributes_of(*node);
        return 0;
    }

    int change(Inode inode, struct stat const& wanted, int which, struct stat& now) override {
        std::scoped_lock const lock(mutex_);
        auto const node = find(inode);
        if (!node) return ENOENT;
        auto& a = node->attributes;
        if (which & FATTR_MODE) a.st_mode = (a.st_mode & mode_t(S_IFMT)) | (wanted.st_mode & 07777);
        if (which & FATTR_UID) a.st_uid = wanted.st_uid;
        if (which & FATTR_GID) a.st_gid = wanted.st_gid;
        if (which & FATTR_SIZE) node->contents.resize(Count(wanted.st_size));
        if (which & FATTR_SIZE) touch(a.st_mtim);
        if (which & FATTR_ATIME) a.st_atim = wanted.st_atim;
        if (which & FATTR_ATIME_NOW) touch(a.st_atim);
        if (which & FATTR_MTIME) a.st_mtim = wanted.st_mtim;
        if (which & FATTR_MTIME_NOW) touch(a.st_mtim);
        touch(a.st_ctim);
        now = attributes_of(*node);
        return 0;
    }

    int make(Inode parent, char const* name, mode_t mode, Owner owner, Found& found) override {
        return add(parent, name, mode, owner, "", found);
    }

    int make_symlink(Inode parent, char const* name, char const* target, Owner owner,
                     Found& found) override {
        return add(parent, name, S_IFLNK | 0777, owner, target, found);
    }

    int symlink_target(Inode inode, std::string& target) override {
        std::scoped_lock const lock(mutex_);
        auto const node = find(inode);
        if (!node) return ENOENT;
        target = node->target;
        return 0;
    }

    int make_link(Inode inode, Inode parent, char const* name, Found& found) override {
        std::scoped_lock const lock(mutex_);
        auto const node = find(inode), directory = find(parent);
        if (!node || node->attributes.st_nlink == 0) return ENOENT;
        if (S_ISDIR(node->attributes.st_mode)) return EPERM;
        if (int const error = obstacle(directory.get(), name); error != 0) return error;
        directory->entries.emplace(name, inode);
        ++names_, ++node->attributes.st_nlink;
        return refer(*node, found);
    }

    int remove(Inode parent, char const* name, bool directory) override {
        std::scoped_lock const lock(mutex_);
        return remove_entry(parent, name, directory);
    }

    int rename(Inode parent, char const* name, Inode target_parent, char const* target,
               unsigned flags) override {
        std::scoped_lock const lock(mutex_);
        auto const from = find(parent), to = find(target_parent);
        if (!from || !to) return ENOENT;
        auto const source = from->entries.find(name);
        if (source == from->entries.end()) return ENOENT;
        if ((flags & ~unsigned(RENAME_NOREPLACE)) != 0) return EINVAL;
        auto const inode = source->second;
        if (int const error = obstacle(to.get(), target);
            error != 0 && error != EEXIST && error != ENOSPC)
            return error;
        // A directory does not move into itself.
        for (auto above = to; above; above = find(above->parent)) {
            if (above->attributes.st_ino == inode) return EINVAL;
        }
        if (auto const there = to->entries.find(target); there != to->entries.end()) {
            if ((flags & RENAME_NOREPLACE) != 0) return EEXIST;
            if (there->second == inode) return 0;
            bool const directory = S_ISDIR(nodes_.at(inode)->attributes.st_mode);
            if (int const error = remove_entry(target_parent, target, directory); error != 0)
                return error;
        }
        from->entries.erase(name);
        to->entries[target] = inode;
        nodes_.at(inode)->parent = target_parent;
        touch(nodes_.at(inode)->attributes.st_ctim);
        return 0;
    }

    int list(Inode inode, Count first, Count most, std::vector<Listed>& entries) override {
        std::scoped_lock const lock(mutex_);
        auto const directory = find(inode);
        if (!directory) return ENOENT;
        if (!S_ISDIR(directory->attributes.st_mode)) return ENOTDIR;
        for (auto const& [name, child] : directory->entries) {
            if (first > 0) {
                --first;
                continue;
            }
            if (entries.size() >= most) break;
            entries.push_back({name, attributes_of(*nodes_.at(child))});
        }
        return 0;
    }

    int space(struct statvfs& s) override {
        s.f_bsize = s.f_frsize = 4096;
        s.f_blocks = capacity_ / 4096;
        s.f_bfree = s.f_bavail = left_ / 4096;
        s.f_files = names_max_;
        s.f_ffree = s.f_favail = names_max_ - std::min<Count>(names_max_, names_);
        s.f_namemax = 255;
        return 0;
    }

    int open(Inode inode, int flags, std::uint64_t&) override {
        auto const node = find_locked(inode);
        if (!node) return ENOENT;
        if (!S_ISREG(node->attributes.st_mode))
            return S_ISDIR(node->attributes.st_mode) ? EISDIR : ENXIO;
        if ((flags & O_TRUNC) == 0) return 0;
        struct stat nothing{};
        return change(inode, nothing, FATTR_SIZE, nothing);
    }

    void close(std::uint64_t) override {}

    int read(Inode inode, std::uint64_t, Count bytes, Count offset,
             std::vector<char>& data) override {
        auto const node = find_locked(inode);
        if (!node) return ENOENT;
        node->contents.read(bytes, offset, data);
        return 0;
    }

    int write(Inode inode, std::uint64_t, char const* data, Count bytes, Count offset) override {
        auto const node = find_locked(inode);
        if (!node) return ENOENT;
        if (!node->contents.write(data, bytes, offset)) return ENOSPC;
        std::scoped_lock const lock(mutex_);
        touch(node->attributes.st_mtim);
        node->attributes.st_ctim = node->attributes.st_mtim;
        return 0;
    }

    int sync(std::uint64_t) override { return 0; }

    [[nodiscard]] bool takes_descriptors() const override { return false; }

private:
    NodePtr find(Inode inode) {
        auto const found = nodes_.find(inode);
        return found == nodes_.end() ? nullptr : found->second;
    }
    NodePtr find_locked(Inode inode) {
        std::scoped_lock const lock(mutex_);
        return find(inode);
    }

    static int refer(Node& node, Found& found) {
        ++node.references;
        found = {node.attributes.st_ino, attributes_of(node)};
        return 0;
    }

    /// What keeps a name from being made there.
    int obstacle(Node const* directory, char const* name) {
        if (directory == nullptr || directory->attributes.st_nlink == 0) return ENOENT;
        if (!S_ISDIR(directory->attributes.st_mode)) return ENOTDIR;
        if (int const error = error_of_name(name); error != 0) return error;
        if (directory->entries.contains(name)) return EEXIST;
        // Nodes that are open yet have no name any more count as well.
        return std::max(names_, Count(nodes_.size())) < names_max_ ? 0 : ENOSPC;
    }

    NodePtr make_node(mode_t mode, Owner owner) {
        auto node = std::make_shared<Node>(left_);
        auto& a = node->attributes;
        a.st_ino = next_inode_++, a.st_mode = mode, a.st_uid = owner.user, a.st_gid = owner.group;
        a.st_nlink = S_ISDIR(mode) ? 2 : 1;
        touch(a.st_mtim);
        a.st_atim = a.st_ctim = a.st_mtim;
        return nodes_[a.st_ino] = node;
    }

    int add(Inode parent, char const* name, mode_t mode, Owner owner, char const* target,
            Found& found) {
        std::scoped_lock const lock(mutex_);
        auto const directory = find(parent);
        if (int const error = obstacle(directory.get(), name); error != 0) return error;
        auto const node = make_node(mode, owner);
        node->target = target;
        node->parent = parent;
        ++names_;
        if (S_ISLNK(mode)) node->attributes.st_size = off_t(node->target.size());
        directory->entries[name] = node->attributes.st_ino;
        touch(directory->attributes.st_mtim);
        return refer(*node, found);
    }

    int remove_entry(Inode parent, char const* name, bool directory) {
        auto const from = find(parent);
        if (!from) return ENOENT;
        auto const entry = from->entries.find(name);
        if (entry == from->entries.end()) return ENOENT;
        auto const node = nodes_.at(entry->second);
        if (S_ISDIR(node->attributes.st_mode) != directory) return directory ? ENOTDIR : EISDIR;
        if (!node->entries.empty()) return ENOTEMPTY;
        from->entries.erase(entry);
        --names_;
        touch(from->attributes.st_mtim);
        node->attributes.st_nlink -= directory ? node->attributes.st_nlink : 1;
        drop_if_unused(*node);
        return 0;
    }

    void drop_if_unused(Node const& node) {
        if (node.references == 0 && node.attributes.st_nlink == 0)
            nodes_.erase(node.attributes.st_ino);
    }

    Count const capacity_;
    std::atomic<Count> left_;  // outlives the nodes
    Count const names_max_;
    std::mutex mutex_;  // guards everything below, and every field of a Node but its contents
    std::map<Inode, NodePtr> nodes_;
    Count names_ = 0;  // entries of all directories
    Inode next_inode_ = root_inode;
};

}  // namespace

std::unique_ptr<Store> store_in_memory(Count capacity) {
    return std::make_unique<MemoryStore>(capacity);
}

}  // namespace sluice::device
