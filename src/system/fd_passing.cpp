// Descriptors travel as SCM_RIGHTS in datagrams. See fd_passing.hpp.
#include "system/fd_passing.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Room for the descriptors and for who sent them.
struct Ancillary {
    alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * FdPassing::descriptors_max) +
                                CMSG_SPACE(sizeof(ucred))];
};

constexpr auto letters_at = offsetof(sockaddr_un, sun_path);

socklen_t length_of(FdPassingAddress const& address) noexcept {
    // The first letter of a name that is in no folder is a zero; the rest has none.
    return static_cast<socklen_t>(letters_at + 1 + strnlen(address.letters.data() + 1, 7));
}

bool is_of_this_user(msghdr& message) noexcept {
    for (auto* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
        ucred sender{};
        std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
        return sender.uid == geteuid() || sender.uid == getuid();
    }
    return false;
}

std::vector<int> descriptors_in(msghdr& message) {
    std::vector<int> found;
    for (auto* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        found.resize((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(found.data(), CMSG_DATA(part), found.size() * sizeof(int));
    }
    return found;
}

}  // namespace

FdPassing::FdPassing() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    int const yes = 1;
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    socklen_t length = sizeof own.sun_family;  // No name given: the system chooses one.
    if (fd_ < 0 || setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
        bind(fd_, reinterpret_cast<sockaddr*>(&own), length) != 0)
        return;
    length = sizeof own;
    if (getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &length) != 0) return;
    if (length > letters_at + address_.letters.size()) return;
    std::memcpy(address_.letters.data(), own.sun_path, length - letters_at);
}

FdPassing::~FdPassing() {
    if (fd_ >= 0) close(fd_);
}

bool FdPassing::send(FdPassingAddress const& to, std::span<int const> descriptors) const {
    if (fd_ < 0 || to == FdPassingAddress{} || descriptors.size() > descriptors_max) return false;
    sockaddr_un peer{};
    peer.sun_family = AF_UNIX;
    std::memcpy(peer.sun_path, to.letters.data(), to.letters.size());
    char nothing = 0;
    iovec content{&nothing, 1};
    Ancillary ancillary{};
    msghdr message{};
    message.msg_name = &peer;
    message.msg_namelen = length_of(to);
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    auto* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    return sendmsg(fd_, &message, MSG_NOSIGNAL) == 1;
}

std::vector<int> FdPassing::receive() const {
    char nothing = 0;
    iovec content{&nothing, 1};
    Ancillary ancillary{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = sizeof ancillary.bytes;
    if (fd_ < 0 || recvmsg(fd_, &message, MSG_CMSG_CLOEXEC) < 0) return {};
    auto found = descriptors_in(message);
    if (is_of_this_user(message)) return found;
    for (int const fd : found) close(fd);
    return {};
}

}  // namespace sluice
