// An AbstractName is the name of a socket on this node that lies in no folder: the system chooses
// it, and it goes with the socket. Processes of one network namespace find each other by it.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace sluice {

/// Trivially copyable. All zero: no socket.
struct AbstractName {
    std::array<char, 8> letters{};
    bool operator==(AbstractName const&) const = default;
};

/// How the system's functions take a name.
struct AbstractAddress {
    explicit AbstractAddress(AbstractName const& name) noexcept {
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.letters.data(), name.letters.size());
        // The first letter of a name that is in no folder is a zero; the rest has none.
        length = static_cast<socklen_t>(letters_at + 1 + strnlen(name.letters.data() + 1, 7));
    }
    [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&address); }

    static constexpr auto letters_at = offsetof(sockaddr_un, sun_path);
    sockaddr_un address{};
    socklen_t length = 0;
};

/// Gives the socket a name that the system chooses; all zero where it refuses.
[[nodiscard]] inline AbstractName bind_abstract(int fd) noexcept {
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    socklen_t length = sizeof own.sun_family;  // No name given: the system chooses one.
    AbstractName name;
    if (bind(fd, reinterpret_cast<sockaddr*>(&own), length) != 0) return name;
    length = sizeof own;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) != 0) return name;
    if (length <= AbstractAddress::letters_at + name.letters.size())
        std::memcpy(name.letters.data(), own.sun_path, length - AbstractAddress::letters_at);
    return name;
}

}  // namespace sluice
