// One function for each request of the kernel. See operations.hpp. Data and fsync take the time of
// the device; names and attributes are free of charge.
#include "device/fuse/operations.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/fuse.h>

#ifndef FOPEN_NOFLUSH
#define FOPEN_NOFLUSH (1 << 5)  // Linux 5.16
#endif
#ifndef FOPEN_PARALLEL_DIRECT_WRITES
#define FOPEN_PARALLEL_DIRECT_WRITES (1 << 6)  // Linux 6.2; older kernels ignore it and serialise
#endif

namespace sluice::device {

namespace {

Client& client_of(fuse_req_t request) { return *static_cast<Client*>(fuse_req_userdata(request)); }
Store& store_of(fuse_req_t request) { return *client_of(request).emulation.store; }

Owner owner_of(fuse_req_t request) {
    auto const* caller = fuse_req_ctx(request);
    return {caller->uid, caller->gid};
}

/// Whether the client has looked these up; else the request is answered.
template <class... Inodes> bool known(fuse_req_t request, Inodes... inodes) {
    Client& client = client_of(request);
    if ((client.knows(inodes) && ...)) return true;
    fuse_reply_err(request, ESTALE);
    return false;
}

void reply_entry(fuse_req_t request, int error, Found const& found) {
    Client& client = client_of(request);
    if (error == 0) error = client.refer(found.inode);
    if (error != 0) return void(fuse_reply_err(request, error));
    fuse_entry_param entry{};
    entry.ino = found.inode;
    entry.attr = found.attributes;
    entry.attr_timeout = entry.entry_timeout = client.rights.attributes_seconds;
    fuse_reply_entry(request, &entry);
}

void reply_attributes(fuse_req_t request, int error, struct stat const& now) {
    if (error != 0) return void(fuse_reply_err(request, error));
    fuse_reply_attr(request, &now, client_of(request).rights.attributes_seconds);
}

/// Whether a fault took the request's answer upon itself; a short count is for the caller.
bool failed(fuse_req_t request, Fault const& fault) {
    if (!fault.hit || fault.error == 0) return false;
    fuse_reply_err(request, fault.error);
    return true;
}

/// Half of them, if the count is to be short.
Count bytes_after(Fault const& fault, Count bytes) {
    return fault.hit && fault.error == 0 ? (bytes + 1) / 2 : bytes;
}

void lookup(fuse_req_t request, fuse_ino_t parent, char const* name) {
    if (!known(request, parent)) return;
    Found found;
    int const error = store_of(request).lookup(parent, name, found);
    reply_entry(request, error, found);
}

void forget(fuse_req_t request, fuse_ino_t inode, std::uint64_t count) {
    client_of(request).forget(inode, count);
    fuse_reply_none(request);
}

void getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    if (!known(request, inode)) return;
    struct stat now{};
    int const error = store_of(request).attributes(inode, now);
    reply_attributes(request, error, now);
}

void setattr(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int which,
             fuse_file_info*) {
    if (!known(request, inode)) return;
    struct stat now{};
    wanted->st_mode &= client_of(request).rights.mode_bits;
    int const error = store_of(request).change(inode, *wanted, which, now);
    reply_attributes(request, error, now);
}

void mknod(fuse_req_t request, fuse_ino_t parent, char const* name, mode_t mode, dev_t) {
    if (!known(request, parent)) return;
    if (failed(request, client_of(request).emulation.fault(FaultPlace::create))) return;
    Found found;
    mode &= mode_t(S_IFMT) | client_of(request).rights.mode_bits;
    int const error = S_ISREG(mode) || S_ISDIR(mode)
                          ? store_of(request).make(parent, name, mode, owner_of(request), found)
                          : EPERM;
    reply_entry(request, error, found);
}

void mkdir(fuse_req_t request, fuse_ino_t parent, char const* name, mode_t mode) {
    mknod(request, parent, name, mode | S_IFDIR, 0);
}

void symlink(fuse_req_t request, char const* target, fuse_ino_t parent, char const* name) {
    if (!known(request, parent)) return;
    Found found;
    int const error =
        store_of(request).make_symlink(parent, name, target, owner_of(request), found);
    reply_entry(request, error, found);
}

void readlink(fuse_req_t request, fuse_ino_t inode) {
    if (!known(request, inode)) return;
    std::string target;
    if (int const error = store_of(request).symlink_target(inode, target); error != 0)
        return void(fuse_reply_err(request, error));
    fuse_reply_readlink(request, target.c_str());
}

void link(fuse_req_t request, fuse_ino_t inode, fuse_ino_t parent, char const* name) {
    if (!known(request, inode, parent)) return;
    Found found;
    int const error = store_of(request).make_link(inode, parent, name, found);
    reply_entry(request, error, found);
}

void unlink(fuse_req_t request, fuse_ino_t parent, char const* name) {
    if (!known(request, parent)) return;
    fuse_reply_err(request, store_of(request).remove(parent, name, false));
}

void rmdir(fuse_req_t request, fuse_ino_t parent, char const* name) {
    if (!known(request, parent)) return;
    fuse_reply_err(request, store_of(request).remove(parent, name, true));
}

void rename(fuse_req_t request, fuse_ino_t parent, char const* name, fuse_ino_t target_parent,
            char const* target, unsigned flags) {
    if (!known(request, parent, target_parent)) return;
    fuse_reply_err(request, store_of(request).rename(parent, name, target_parent, target, flags));
}

fuse_attr wire_attributes(struct stat const& from) {
    fuse_attr to{};
    to.ino = from.st_ino;
    to.size = static_cast<std::uint64_t>(from.st_size);
    to.blocks = static_cast<std::uint64_t>(from.st_blocks);
    to.atime = static_cast<std::uint64_t>(from.st_atim.tv_sec);
    to.mtime = static_cast<std::uint64_t>(from.st_mtim.tv_sec);
    to.ctime = static_cast<std::uint64_t>(from.st_ctim.tv_sec);
    to.atimensec = static_cast<std::uint32_t>(from.st_atim.tv_nsec);
    to.mtimensec = static_cast<std::uint32_t>(from.st_mtim.tv_nsec);
    to.ctimensec = static_cast<std::uint32_t>(from.st_ctim.tv_nsec);
    to.mode = from.st_mode;
    to.nlink = static_cast<std::uint32_t>(from.st_nlink);
    to.uid = from.st_uid;
    to.gid = from.st_gid;
    to.blksize = static_cast<std::uint32_t>(from.st_blksize);
    return to;
}

/// The answers to open and create are written out because libfuse before 3.15 cannot ask for
/// parallel direct writes. With the page cache, closing a file flushes it no more than on a local
/// file system.
int open_file(Client& client, fuse_ino_t inode, int flags, fuse_open_out& reply) {
    std::uint64_t handle = 0;
    if (int const error = client.open(inode, flags, handle); error != 0) return error;
    client.emulation.layouts.open(inode);
    reply.fh = handle;
    reply.open_flags = client.rights.page_cache ? FOPEN_KEEP_CACHE | FOPEN_NOFLUSH
                                                : FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
    return 0;
}

void open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
    if (!known(request, inode)) return;
    Client& client = client_of(request);
    if (failed(request, client.emulation.fault(FaultPlace::open))) return;
    fuse_open_out reply{};
    if (int const error = open_file(client, inode, info->flags, reply); error != 0)
        return void(fuse_reply_err(request, error));
    fuse_reply_buf(request, reinterpret_cast<char const*>(&reply), sizeof reply);
}

/// Makes the file, or finds the one that another host has made since the kernel looked for it.
int make_or_find(Store& store, fuse_ino_t parent, char const* name, mode_t mode, Owner owner,
                 int flags, Found& found) {
    for (;;) {
        int const error = store.make(parent, name, mode, owner, found);
        if (error != EEXIST || (flags & O_EXCL) != 0) return error;
        int const lost = store.lookup(parent, name, found);
        if (lost != ENOENT) return lost;  // Else it is gone again.
    }
}

void create(fuse_req_t request, fuse_ino_t parent, char const* name, mode_t mode,
            fuse_file_info* info) {
    if (!known(request, parent)) return;
    Client& client = client_of(request);
    if (failed(request, client.emulation.fault(FaultPlace::create))) return;
    if (failed(request, client.emulation.fault(FaultPlace::open))) return;
    Found found;
    mode = (mode & 07777 & client.rights.mode_bits) | S_IFREG;
    int error = make_or_find(*client.emulation.store, parent, name, mode, owner_of(request),
                             info->flags, found);
    if (error == 0) error = client.refer(found.inode);
    if (error != 0) return void(fuse_reply_err(request, error));
    struct {
        fuse_entry_out entry;
        fuse_open_out opened;
    } reply{};
    // Making it was creating; what is left is opening.
    int const refused =
        open_file(client, found.inode, info->flags & ~(O_CREAT | O_EXCL), reply.opened);
    if (refused != 0) {
        client.forget(found.inode, 1);
        return void(fuse_reply_err(request, refused));
    }
    reply.entry.nodeid = found.inode;
    auto const seconds = client.rights.attributes_seconds;
    reply.entry.entry_valid = reply.entry.attr_valid = static_cast<std::uint64_t>(seconds);
    reply.entry.attr = wire_attributes(found.attributes);
    fuse_reply_buf(request, reinterpret_cast<char const*>(&reply), sizeof reply);
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    client_of(request).close(info->fh);
    fuse_reply_err(request, 0);
}

DeviceAccess access_of(Direction direction, fuse_ino_t inode, off_t offset, Count bytes) {
    return {direction, inode, offset, Bytes(bytes)};
}

void read(fuse_req_t request, fuse_ino_t inode, size_t bytes, off_t offset, fuse_file_info* info) {
    double const arrival = now();
    Emulation& emulation = client_of(request).emulation;
    auto const file = client_of(request).file(inode, info->fh);
    if (!file) return void(fuse_reply_err(request, EBADF));
    Fault const fault = emulation.fault(FaultPlace::read);
    if (failed(request, fault)) return;
    std::vector<char> data;
    int const error =
        emulation.store->read(inode, file->handle, bytes_after(fault, bytes), Count(offset), data);
    if (error != 0) return void(fuse_reply_err(request, error));
    emulation.serve(arrival, access_of(Direction::read, inode, offset, data.size()));
    fuse_reply_buf(request, data.data(), data.size());
}

void write(fuse_req_t request, fuse_ino_t inode, char const* data, size_t bytes, off_t offset,
           fuse_file_info* info) {
    double const arrival = now();
    Emulation& emulation = client_of(request).emulation;
    auto const file = client_of(request).file(inode, info->fh);
    if (!file) return void(fuse_reply_err(request, EBADF));
    Fault const fault = emulation.fault(FaultPlace::write);
    if (failed(request, fault)) return;
    bytes = bytes_after(fault, bytes);
    int const error = emulation.store->write(inode, file->handle, data, bytes, Count(offset));
    if (error != 0) return void(fuse_reply_err(request, error));
    emulation.serve(arrival, access_of(Direction::write, inode, offset, bytes));
    fuse_reply_write(request, bytes);
}

/// A write is answered when it is on the device, so there is nothing to flush but the wait itself.
void fsync(fuse_req_t request, fuse_ino_t inode, int, fuse_file_info* info) {
    Emulation& emulation = client_of(request).emulation;
    auto const file = client_of(request).file(inode, info->fh);
    if (!file) return void(fuse_reply_err(request, EBADF));
    if (failed(request, emulation.fault(FaultPlace::sync))) return;
    int const error = emulation.store->sync(file->handle);
    if (error == 0) emulation.flush();
    fuse_reply_err(request, error);
}

/// ENOSYS: the kernel asks no more.
void getxattr(fuse_req_t request, fuse_ino_t inode, char const* name, size_t bytes) {
    Layouts const& layouts = client_of(request).emulation.layouts;
    if (!layouts.are_known()) return void(fuse_reply_err(request, ENOSYS));
    if (!known(request, inode)) return;
    if (std::strcmp(name, lustre_layout_name) != 0)
        return void(fuse_reply_err(request, EOPNOTSUPP));
    auto const layout = layouts.of(inode);
    if (layout.empty()) return void(fuse_reply_err(request, ENODATA));
    if (bytes == 0) return void(fuse_reply_xattr(request, layout.size()));
    if (bytes < layout.size()) return void(fuse_reply_err(request, ERANGE));
    fuse_reply_buf(request, reinterpret_cast<char const*>(layout.data()), layout.size());
}

void setxattr(fuse_req_t request, fuse_ino_t inode, char const* name, char const* value,
              size_t bytes, int) {
    Layouts& layouts = client_of(request).emulation.layouts;
    if (!layouts.are_known()) return void(fuse_reply_err(request, ENOSYS));
    if (!known(request, inode)) return;
    if (std::strcmp(name, lustre_layout_name) != 0)
        return void(fuse_reply_err(request, EOPNOTSUPP));
    bool const taken = layouts.ask(inode, std::as_bytes(std::span(value, bytes)));
    fuse_reply_err(request, taken ? 0 : EINVAL);
}

void readdir(fuse_req_t request, fuse_ino_t inode, size_t bytes, off_t offset, fuse_file_info*) {
    if (!known(request, inode)) return;
    std::vector<Listed> entries;
    Count const most = bytes / FUSE_NAME_OFFSET + 1;
    if (int const error = store_of(request).list(inode, Count(offset), most, entries); error != 0)
        return void(fuse_reply_err(request, error));
    std::vector<char> buffer(bytes);
    size_t used = 0;
    for (Listed const& entry : entries) {
        auto const needed = fuse_add_direntry(request, buffer.data() + used, bytes - used,
                                              entry.name.c_str(), &entry.attributes, ++offset);
        if (needed > bytes - used) break;
        used += needed;
    }
    fuse_reply_buf(request, buffer.data(), used);
}

void statfs(fuse_req_t request, fuse_ino_t) {
    struct statvfs space{};
    if (int const error = store_of(request).space(space); error != 0)
        return void(fuse_reply_err(request, error));
    fuse_reply_statfs(request, &space);
}

void init(void* user_data, fuse_conn_info* connection) {
    connection->max_write = unsigned(request_bytes_max);
    connection->max_read = unsigned(request_bytes_max);
    connection->max_background = 64;
    // The kernel truncates by setattr; data comes in buffers, whatever lies below.
    connection->want &= ~unsigned(FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_SPLICE_READ |
                                  FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
    if (static_cast<Client*>(user_data)->rights.page_cache)
        connection->want |= connection->capable & unsigned(FUSE_CAP_WRITEBACK_CACHE);
}

}  // namespace

fuse_lowlevel_ops operations() {
    fuse_lowlevel_ops all{};
    all.init = init, all.lookup = lookup, all.forget = forget;
    all.getattr = getattr, all.setattr = setattr, all.mknod = mknod, all.mkdir = mkdir;
    all.symlink = symlink, all.readlink = readlink, all.link = link;
    all.unlink = unlink, all.rmdir = rmdir, all.rename = rename;
    all.open = open, all.create = create, all.release = release, all.read = read, all.write = write;
    all.fsync = fsync, all.readdir = readdir, all.statfs = statfs;
    all.getxattr = getxattr, all.setxattr = setxattr;
    return all;
}

}  // namespace sluice::device
