// Who copies, and what a device is told. See user_copies.hpp.
#include "file/run/user_copies.hpp"

#include "base/copy.hpp"

#include <utility>

namespace sluice {
namespace {

/// What is registered at once of memory that is used again and again.
constexpr Bytes held_bytes = Bytes{64} << 20;

/// The piece of `all` in which `at` lies; returns what is left of it from there.
Bytes hold_piece(Device& device, std::span<std::byte> all, std::byte* at) {
    Bytes const before = at - all.data(), begin = before / held_bytes * held_bytes;
    Bytes const end = std::min(begin + held_bytes, static_cast<Bytes>(all.size()));
    device.hold({all.data() + begin, static_cast<std::size_t>(end - begin)});
    return end - before;
}

}  // namespace

void UserCopies::add(Cursor user, Cursor own, std::byte* own_memory, Bytes bytes) {
    bool const from_user = way_ == Direction::write;
    Offset const own_address = UserMemory(own_memory).address();
    if (user_.device && from_user)
        append_rows(rows_, own, own_address, user, user_.address(), bytes);
    else if (user_.device)
        append_rows(rows_, user, user_.address(), own, own_address, bytes);
    else if (from_user)
        copy(own, own_memory, user, user_.data, bytes);
    else
        copy(user, user_.data, own, own_memory, bytes);
}

std::unique_ptr<DeviceWork> UserCopies::start() {
    if (rows_.empty()) return nullptr;
    return user_.device->start(way_, std::exchange(rows_, {}));
}

Error UserCopies::finish() {
    auto const under_way = start();
    if (!under_way) return {};
    under_way->wait();
    return under_way->error();
}

Error copy_user(UserMemory user, Direction way, Layout const& layout, std::byte* own, Bytes bytes,
                std::span<std::byte> all) {
    UserCopies copies(user, way);
    for (Bytes done = 0; done < bytes;) {
        Bytes length = bytes - done;
        if (user.device && !all.empty())
            length = std::min(length, hold_piece(*user.device, all, own + done));
        copies.add(Cursor(layout, done), Cursor(*Layout::contiguous(), 0), own + done, length);
        done += length;
    }
    return copies.finish();
}

}  // namespace sluice
