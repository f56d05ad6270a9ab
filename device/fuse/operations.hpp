// What the kernel asks of a mount, answered from a store in the time of a device.
#pragma once
#define FUSE_USE_VERSION 312
#include "device/fuse/emulation.hpp"

#include <fuse_lowlevel.h>
#include <limits>
#include <map>
#include <memory>

namespace sluice::device {

/// An open file of a store, closed when the last request that uses it has ended.
class OpenFile {
public:
    OpenFile(Store& store, Inode its_inode, std::uint64_t its_handle)
        : inode(its_inode),
          handle(its_handle),
          store_(store) {}
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    ~OpenFile() { store_.close(handle); }

    Inode const inode;
    std::uint64_t const handle;

private:
    Store& store_;
};

/// What a client may do.
struct Rights {
    bool page_cache = false;        ///< Its kernel keeps pages.
    double attributes_seconds = 0;  ///< How long it may believe what it knows.
    mode_t mode_bits = 07777;       ///< that it may set
    /// Most inodes that it refers to, and files that it has open, together.
    std::uint64_t things_max = std::numeric_limits<std::uint64_t>::max();
};

/// One kernel that has mounted the device. It is the user data of its FUSE session. It reaches
/// inodes that it looked up and files that it opened, and nothing of another client.
class Client {
public:
    Client(Emulation& its_emulation, Rights const& its_rights);
    Client(Client const&) = delete;
    Client& operator=(Client const&) = delete;
    /// What the kernel still refers to, it does not any more.
    ~Client();

    /// Takes a reference of the store's over; ENFILE, and gives it back, if these are too many.
    int refer(Inode inode);
    [[nodiscard]] bool knows(Inode inode);
    void forget(Inode inode, std::uint64_t count);

    int open(Inode inode, int flags, std::uint64_t& number);
    /// Null unless this client has opened this inode under this number.
    [[nodiscard]] std::shared_ptr<OpenFile> file(Inode inode, std::uint64_t number);
    void close(std::uint64_t number);

    Emulation& emulation;
    Rights const rights;

private:
    [[nodiscard]] bool is_full() const {
        return references_.size() + files_.size() >= rights.things_max;
    }

    std::mutex mutex_;
    std::map<Inode, std::uint64_t> references_;
    std::map<std::uint64_t, std::shared_ptr<OpenFile>> files_;
    std::uint64_t next_number_;
};

[[nodiscard]] fuse_lowlevel_ops operations();

}  // namespace sluice::device
