// These functions hand descriptors from process to process through sockets. Ranks need them for
// shared memory where they may not look into /proc/PID/fd of each other, as with a user namespace
// for each rank, or where there is no /proc.
#pragma once
#include <array>
#include <span>
#include <vector>

namespace sluice {

/// Where a process listens; trivially copyable. All zero: nowhere.
struct FdPassingAddress {
    std::array<char, 8> letters{};  ///< Chosen by the system, in no folder.
    bool operator==(FdPassingAddress const&) const = default;
};

/// One process's end. Peers are of the same user and in the same network namespace.
class FdPassing {
public:
    static constexpr std::size_t descriptors_max = 4;  ///< Of one message.

    FdPassing();
    ~FdPassing();
    FdPassing(FdPassing const&) = delete;
    FdPassing& operator=(FdPassing const&) = delete;

    [[nodiscard]] FdPassingAddress const& address() const noexcept { return address_; }
    /// The system keeps the message until the peer takes it: the sender may close its own. Does not
    /// block. At most ten messages may wait for a peer.
    [[nodiscard]] bool send(FdPassingAddress const& to, std::span<int const> descriptors) const;
    /// A message that has arrived, as descriptors that are the caller's; empty where there is none,
    /// or one of another user. Does not block.
    [[nodiscard]] std::vector<int> receive() const;

private:
    int fd_ = -1;
    FdPassingAddress address_;
};

}  // namespace sluice
