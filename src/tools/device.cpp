// sluice-device: a file system in memory that is as slow as asked for, to test I/O that hides
// behind computation. All data requests of a mount share one device, whose clock says when each is
// done; the caller sleeps until then. Opened files bypass the page cache, so nothing hides the
// device.
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>

#include "device_tree.hpp"

#ifndef FOPEN_PARALLEL_DIRECT_WRITES
#define FOPEN_PARALLEL_DIRECT_WRITES (1 << 6)  // Linux 6.2; older kernels ignore it and serialise
#endif

namespace {

using namespace sluice::device;

Device device;
Bytes capacity = 0;

void reply_entry(fuse_req_t request, Node& node) {
    ++node.lookups;
    fuse_entry_param entry{};
    entry.ino = node.attributes.st_ino;
    entry.attr = attributes_of(node);
    entry.attr_timeout = entry.entry_timeout = 1;
    fuse_reply_entry(request, &entry);
}

void lookup(fuse_req_t request, fuse_ino_t parent, char const* name) {
    std::scoped_lock const lock(tree_mutex);
    auto const& entries = nodes.at(parent)->entries;
    auto const entry = entries.find(name);
    if (entry == entries.end()) return void(fuse_reply_err(request, ENOENT));
    reply_entry(request, *nodes.at(entry->second));
}

void forget(fuse_req_t request, fuse_ino_t inode, std::uint64_t count) {
    std::scoped_lock const lock(tree_mutex);
    if (auto const found = nodes.find(inode); found != nodes.end()) {
        auto const node = found->second;
        node->lookups -= std::min(node->lookups, count);
        drop_if_unused(*node);
    }
    fuse_reply_none(request);
}

void getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    std::scoped_lock const lock(tree_mutex);
    auto const attributes = attributes_of(*nodes.at(inode));
    fuse_reply_attr(request, &attributes, 1);
}

void setattr(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int which,
             fuse_file_info*) {
    std::scoped_lock const lock(tree_mutex);
    auto& node = *nodes.at(inode);
    auto& a = node.attributes;
    if (which & FUSE_SET_ATTR_MODE) a.st_mode = wanted->st_mode;
    if (which & FUSE_SET_ATTR_UID) a.st_uid = wanted->st_uid;
    if (which & FUSE_SET_ATTR_GID) a.st_gid = wanted->st_gid;
    if (which & FUSE_SET_ATTR_SIZE) node.contents.resize(Bytes(wanted->st_size));
    if (which & FUSE_SET_ATTR_MTIME) a.st_mtim = wanted->st_mtim;
    if (which & FUSE_SET_ATTR_MTIME_NOW) clock_gettime(CLOCK_REALTIME, &a.st_mtim);
    auto const attributes = attributes_of(node);
    fuse_reply_attr(request, &attributes, 1);
}

/// Also creates: with no `create` operation Linux calls mknod, then open.
void mknod(fuse_req_t request, fuse_ino_t parent, char const* name, mode_t mode, dev_t) {
    std::scoped_lock const lock(tree_mutex);
    auto& entries = nodes.at(parent)->entries;
    if (entries.contains(name)) return void(fuse_reply_err(request, EEXIST));
    auto const* caller = fuse_req_ctx(request);
    auto const node = make_node(mode, caller->uid, caller->gid);
    entries[name] = node->attributes.st_ino;
    reply_entry(request, *node);
}

void mkdir(fuse_req_t request, fuse_ino_t parent, char const* name, mode_t mode) {
    mknod(request, parent, name, mode | S_IFDIR, 0);
}

/// Error number, 0 if the entry is gone.
int remove_entry(fuse_ino_t parent, char const* name, bool directory) {
    auto& entries = nodes.at(parent)->entries;
    auto const entry = entries.find(name);
    if (entry == entries.end()) return ENOENT;
    auto const& node = nodes.at(entry->second);
    if (S_ISDIR(node->attributes.st_mode) != directory) return directory ? ENOTDIR : EISDIR;
    if (!node->entries.empty()) return ENOTEMPTY;
    entries.erase(entry);
    node->attributes.st_nlink = 0;
    drop_if_unused(*node);
    return 0;
}

void unlink(fuse_req_t request, fuse_ino_t parent, char const* name) {
    std::scoped_lock const lock(tree_mutex);
    fuse_reply_err(request, remove_entry(parent, name, false));
}

void rmdir(fuse_req_t request, fuse_ino_t parent, char const* name) {
    std::scoped_lock const lock(tree_mutex);
    fuse_reply_err(request, remove_entry(parent, name, true));
}

void rename(fuse_req_t request, fuse_ino_t parent, char const* name, fuse_ino_t target_parent,
            char const* target, unsigned flags) {
    std::scoped_lock const lock(tree_mutex);
    auto& source_entries = nodes.at(parent)->entries;
    auto& target_entries = nodes.at(target_parent)->entries;
    auto const source = source_entries.find(name);
    if (source == source_entries.end()) return void(fuse_reply_err(request, ENOENT));
    if (flags != 0) return void(fuse_reply_err(request, EINVAL));
    auto const inode = source->second;
    if (target_entries.contains(target) && target_entries.at(target) != inode) {
        bool const directory = S_ISDIR(nodes.at(inode)->attributes.st_mode);
        if (int const error = remove_entry(target_parent, target, directory); error != 0)
            return void(fuse_reply_err(request, error));
    }
    source_entries.erase(source);
    target_entries[target] = inode;
    fuse_reply_err(request, 0);
}

/// Written out because libfuse before 3.15 cannot ask for parallel direct writes.
void open(fuse_req_t request, fuse_ino_t, fuse_file_info*) {
    fuse_open_out reply{};
    reply.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
    fuse_reply_buf(request, reinterpret_cast<char const*>(&reply), sizeof reply);
}

void read(fuse_req_t request, fuse_ino_t inode, size_t bytes, off_t offset, fuse_file_info*) {
    auto const data = find(inode)->contents.read(bytes, Bytes(offset));
    device.serve(data.size());
    fuse_reply_buf(request, data.data(), data.size());
}

void write(fuse_req_t request, fuse_ino_t inode, char const* data, size_t bytes, off_t offset,
           fuse_file_info*) {
    auto const node = find(inode);
    if (!node->contents.write(data, bytes, Bytes(offset)))
        return void(fuse_reply_err(request, ENOSPC));
    {
        std::scoped_lock const lock(tree_mutex);
        clock_gettime(CLOCK_REALTIME, &node->attributes.st_mtim);
    }
    device.serve(bytes);
    fuse_reply_write(request, bytes);
}

/// A write is answered when it is on the device, so there is nothing to flush but the wait itself.
void fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
    device.serve(0);
    fuse_reply_err(request, 0);
}

void readdir(fuse_req_t request, fuse_ino_t inode, size_t bytes, off_t offset, fuse_file_info*) {
    std::scoped_lock const lock(tree_mutex);
    std::vector<char> buffer(bytes);
    size_t used = 0;
    off_t position = 0;
    for (auto const& [name, child] : nodes.at(inode)->entries) {
        if (++position <= offset) continue;
        auto const attributes = attributes_of(*nodes.at(child));
        auto const needed = fuse_add_direntry(request, buffer.data() + used, bytes - used,
                                              name.c_str(), &attributes, position);
        if (needed > bytes - used) break;
        used += needed;
    }
    fuse_reply_buf(request, buffer.data(), used);
}

void statfs(fuse_req_t request, fuse_ino_t) {
    struct statvfs s{};
    s.f_bsize = s.f_frsize = 4096;
    s.f_blocks = capacity / 4096;
    s.f_bfree = s.f_bavail = bytes_left / 4096;
    s.f_files = s.f_ffree = s.f_favail = 1 << 20;
    s.f_namemax = 255;
    fuse_reply_statfs(request, &s);
}

void init(void*, fuse_conn_info* connection) {
    connection->max_write = unsigned(request_bytes_max);
    connection->max_read = unsigned(request_bytes_max);
    connection->max_background = 64;
    connection->want &= ~unsigned(FUSE_CAP_ATOMIC_O_TRUNC);  // the kernel truncates by setattr
}

/// Why mounting cannot work here, or empty.
std::string first_obstacle(std::string const& directory) {
    struct stat s{};
    if (stat(directory.c_str(), &s) != 0 || !S_ISDIR(s.st_mode))
        return directory + " is not a directory; make it first";
    if (access("/dev/fuse", F_OK) != 0)
        return "/dev/fuse is missing: this kernel or container has no FUSE";
    int const probe = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (probe < 0)
        return std::string("/dev/fuse may not be opened (") + std::strerror(errno) +
               "): run as root, or let the container have the device";
    close(probe);
    return {};
}

int fail(std::string const& why) {
    std::fprintf(stderr, "sluice-device: %s\n", why.c_str());
    return 1;
}

int serve(std::string const& directory) {
    fuse_lowlevel_ops operations{};
    operations.init = init, operations.lookup = lookup, operations.forget = forget;
    operations.getattr = getattr, operations.setattr = setattr, operations.mknod = mknod;
    operations.mkdir = mkdir, operations.unlink = unlink, operations.rmdir = rmdir;
    operations.rename = rename, operations.open = open, operations.read = read;
    operations.write = write, operations.fsync = fsync, operations.readdir = readdir;
    operations.statfs = statfs;

    fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    fuse_opt_add_arg(&arguments, "sluice-device");
    fuse_opt_add_arg(&arguments, "-ofsname=sluice-device,subtype=sluice,max_read=1048576");
    if (geteuid() == 0) fuse_opt_add_arg(&arguments, "-oallow_other");
    auto* session = fuse_session_new(&arguments, &operations, sizeof operations, nullptr);
    fuse_opt_free_args(&arguments);
    if (session == nullptr) return fail("libfuse refused to start");
    if (fuse_set_signal_handlers(session) != 0 ||
        fuse_session_mount(session, directory.c_str()) != 0) {
        fuse_session_destroy(session);
        return fail("mounting on " + directory + " failed: is mounting allowed here?");
    }
    std::printf("mounted %s: %g MiB/s, %g us a request\n", directory.c_str(),
                device.bytes_per_second / 1048576, double(device.latency) / 1000);
    std::fflush(stdout);
    // A thread sleeps for each request in service; beyond this many the kernel keeps the rest.
    auto* loop = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(loop, 64);
    fuse_loop_cfg_set_idle_threads(loop, 16);
    int const result = fuse_session_loop_mt(session, loop);
    fuse_loop_cfg_destroy(loop);
    fuse_remove_signal_handlers(session);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
    return result < 0 ? fail("serving requests failed") : 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::string directory;
    Bytes bandwidth = 0;
    double latency_us = 0;
    unsigned queue_depth = 1;
    struct sysinfo machine{};
    sysinfo(&machine);
    capacity = Bytes(machine.totalram) * machine.mem_unit / 2;

    CLI::App app(
        "A file system in memory on one emulated device. Reads, writes and fsync wait for\n"
        "the device, in order of arrival; names and attributes are free of charge.\n"
        "Ends, and unmounts, at SIGTERM or SIGINT.",
        "sluice-device");
    app.add_option("--bandwidth", bandwidth, "bytes a second (40M: 40 MiB/s)")
        ->required()
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::PositiveNumber);
    app.add_option("--latency", latency_us, "time of a request before its bytes (100us, 2ms)")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, double>{{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}}))
        ->check(CLI::NonNegativeNumber);
    app.add_option("--queue-depth", queue_depth, "requests whose latencies overlap (default 1)")
        ->check(CLI::Range(1U, 1024U));
    app.add_option("--capacity", capacity, "most bytes of all files (default: half the memory)")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("DIR", directory, "where to mount")->required();
    CLI11_PARSE(app, argc, argv);

    if (auto const obstacle = first_obstacle(directory); !obstacle.empty()) return fail(obstacle);
    device.bytes_per_second = double(bandwidth);
    device.latency = Nanoseconds(latency_us * 1000);
    device.lane_free_at.assign(queue_depth, 0);
    bytes_left = capacity;
    make_node(S_IFDIR | 0777, geteuid(), getegid())->lookups = 1;
    return serve(directory);
}
