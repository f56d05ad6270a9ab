// What the kernel asks of a mount, answered from a store in the time of a device.
#pragma once
#define FUSE_USE_VERSION 312
#include "tools/device/emulation.hpp"

#include <fuse_lowlevel.h>
#include <map>

namespace sluice::device {

/// One kernel that has mounted the device. It is the user data of its FUSE session.
class Client {
public:
    Client(Emulation& its_emulation, bool cached, double seconds_known)
        : emulation(its_emulation),
          page_cache(cached),
          attributes_seconds(seconds_known) {}
    Client(Client const&) = delete;
    Client& operator=(Client const&) = delete;
    /// What the kernel still refers to, it does not any more.
    ~Client();

    void referred(Inode inode) {
        std::scoped_lock const lock(mutex_);
        ++references_[inode];
    }
    void forget(Inode inode, std::uint64_t count);
    void opened(std::uint64_t handle) {
        std::scoped_lock const lock(mutex_);
        ++handles_[handle];
    }
    void close(std::uint64_t handle);

    Emulation& emulation;
    bool const page_cache;            ///< The kernel keeps pages.
    double const attributes_seconds;  ///< How long it may believe what it knows.

private:
    std::mutex mutex_;
    std::map<Inode, std::uint64_t> references_;
    std::map<std::uint64_t, std::uint64_t> handles_;
};

[[nodiscard]] fuse_lowlevel_ops operations();

}  // namespace sluice::device
