// What a kernel that has mounted the device refers to and has open. See operations.hpp.
#include "device/fuse/operations.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>

namespace sluice::device {
namespace {

/// Numbers that another connection has hardly ever given out. None is a number of this process.
std::uint64_t first_number() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
    return number;
}

}  // namespace

Client::Client(Emulation& its_emulation, Rights const& its_rights)
    : emulation(its_emulation),
      rights(its_rights),
      next_number_(first_number()) {}

Client::~Client() {
    for (auto const& [inode, count] : references_) emulation.store->forget(inode, count);
}

int Client::refer(Inode inode) {
    {
        std::scoped_lock const lock(mutex_);
        if (!is_full() || references_.contains(inode)) {
            ++references_[inode];
            return 0;
        }
    }
    emulation.store->forget(inode, 1);
    return ENFILE;
}

bool Client::knows(Inode inode) {
    std::scoped_lock const lock(mutex_);
    return inode == root_inode || references_.contains(inode);
}

void Client::forget(Inode inode, std::uint64_t count) {
    {
        std::scoped_lock const lock(mutex_);
        auto const found = references_.find(inode);
        if (found == references_.end()) return;
        count = std::min(count, found->second);
        found->second -= count;
        if (found->second == 0) references_.erase(found);
    }
    emulation.store->forget(inode, count);
}

int Client::open(Inode inode, int flags, std::uint64_t& number) {
    std::uint64_t handle = 0;
    if (int const error = emulation.store->open(inode, flags, handle); error != 0) return error;
    auto file = std::make_shared<OpenFile>(*emulation.store, inode, handle);
    std::scoped_lock const lock(mutex_);
    if (is_full()) return EMFILE;
    number = next_number_++;
    files_.emplace(number, std::move(file));
    return 0;
}

std::shared_ptr<OpenFile> Client::file(Inode inode, std::uint64_t number) {
    std::scoped_lock const lock(mutex_);
    auto const found = files_.find(number);
    return found != files_.end() && found->second->inode == inode ? found->second : nullptr;
}

void Client::close(std::uint64_t number) {
    std::shared_ptr<OpenFile> last;  // Closed when the lock is free again.
    std::scoped_lock const lock(mutex_);
    auto const found = files_.find(number);
    if (found == files_.end()) return;
    last = std::move(found->second);
    files_.erase(found);
}

}  // namespace sluice::device
