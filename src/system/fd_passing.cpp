// Descriptors travel as SCM_RIGHTS in datagrams. See fd_passing.hpp.
#include "system/fd_passing.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Room for the descriptors and for who sent them.
struct Ancillary {
    alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * FdPassing::descriptors_max) +
                                CMSG_SPACE(sizeof(ucred))];
};

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

bool send_with_descriptors(int socket, msghdr& message, std::span<int const> descriptors,
                           int flags) noexcept {
    if (descriptors.size() > FdPassing::descriptors_max) return false;
    Ancillary ancillary{};
    if (!descriptors.empty()) {
        message.msg_control = ancillary.bytes;
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        auto* const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    bool const is_sent = sendmsg(socket, &message, flags) >= 0;
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    return is_sent;
}

long receive_with_descriptors(int socket, iovec content, std::vector<int>& descriptors) {
    Ancillary ancillary{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = sizeof ancillary.bytes;
    long const bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (bytes < 0) return bytes;
    auto const found = descriptors_in(message);
    if (is_of_this_user(message))
        descriptors = found;
    else
        for (int const fd : found) close(fd);
    return bytes;
}

FdPassing::FdPassing() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    int const yes = 1;
    if (fd_ >= 0 && setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0)
        address_ = bind_abstract(fd_);
}

FdPassing::~FdPassing() {
    if (fd_ >= 0) close(fd_);
}

bool FdPassing::send(AbstractName const& to, std::span<int const> descriptors) const {
    if (fd_ < 0 || to == AbstractName{}) return false;
    AbstractAddress peer(to);
    char nothing = 0;
    iovec content{&nothing, 1};
    msghdr message{};
    message.msg_name = peer.get();
    message.msg_namelen = peer.length;
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    return send_with_descriptors(fd_, message, descriptors, MSG_NOSIGNAL);
}

std::vector<int> FdPassing::receive() const {
    char nothing = 0;
    std::vector<int> found;
    if (fd_ >= 0) (void)receive_with_descriptors(fd_, {&nothing, 1}, found);
    return found;
}

}  // namespace sluice
