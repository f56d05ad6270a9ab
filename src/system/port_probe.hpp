// A PortProbe finds out whether a process that listens on a TCP port still lives, without its help:
// the system accepts connections for it, and refuses them when it has ended.
#pragma once
#include "system/descriptor.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

class PortProbe {
public:
    enum class Result : std::uint8_t {
        unknown,  ///< Not yet.
        alive,
        refused,  ///< Its host lives, and nobody listens there.
    };

    PortProbe() = default;
    /// A sockaddr_in or sockaddr_in6; with others look() never knows.
    explicit PortProbe(std::span<std::byte const> address)
        : address_(address.begin(), address.end()) {}

    /// Begins where none is under way, and tells what came of it. Does not wait.
    [[nodiscard]] Result look() noexcept;
    [[nodiscard]] bool is_possible() const noexcept;

private:
    std::vector<std::byte> address_;
    Descriptor fd_;
};

}  // namespace sluice
