// These functions hand descriptors from process to process through sockets. Ranks need them for
// shared memory where they may not look into /proc/PID/fd of each other, as with a user namespace
// for each rank, or where there is no /proc.
#pragma once
#include "system/abstract_name.hpp"

#include <span>
#include <sys/socket.h>
#include <vector>

namespace sluice {

/// One message through a socket of this node with descriptors beside its bytes, at most
/// FdPassing::descriptors_max of them. The system keeps them until somebody takes the message.
[[nodiscard]] bool send_with_descriptors(int socket, msghdr& message,
                                         std::span<int const> descriptors, int flags) noexcept;
/// The other end: how many bytes came, less than 0 where there is no message, and descriptors that
/// are the caller's; none from another user.
[[nodiscard]] long receive_with_descriptors(int socket, iovec content,
                                            std::vector<int>& descriptors);

/// One process's end. Peers are of the same user and in the same network namespace.
class FdPassing {
public:
    static constexpr std::size_t descriptors_max = 4;  ///< Of one message.

    FdPassing();
    ~FdPassing();
    FdPassing(FdPassing const&) = delete;
    FdPassing& operator=(FdPassing const&) = delete;

    [[nodiscard]] AbstractName const& address() const noexcept { return address_; }
    /// The system keeps the message until the peer takes it: the sender may close its own. Does not
    /// block. At most ten messages may wait for a peer.
    [[nodiscard]] bool send(AbstractName const& to, std::span<int const> descriptors) const;
    /// A message that has arrived, as descriptors that are the caller's; empty where there is none,
    /// or one of another user. Does not block.
    [[nodiscard]] std::vector<int> receive() const;

private:
    int fd_ = -1;
    AbstractName address_;
};

}  // namespace sluice
