// Marks are abstract sockets of AF_UNIX. See marks.hpp.
#include "system/marks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

struct Address {
    sockaddr_un of{};
    socklen_t length;
    explicit Address(std::string const& name) {
        of.sun_family = AF_UNIX;
        // A zero before the name: it is in no folder.
        std::size_t const letters = std::min(name.size(), sizeof of.sun_path - 1);
        std::memcpy(of.sun_path + 1, name.data(), letters);
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
    }
    [[nodiscard]] sockaddr const* get() const { return reinterpret_cast<sockaddr const*>(&of); }
};

int new_socket() { return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

}  // namespace

Marks::~Marks() {
    if (held_ >= 0) close(held_);
    if (asks_ >= 0) close(asks_);
}

bool Marks::hold(std::string const& name) {
    if (held_ < 0) held_ = new_socket();
    Address const address(name);
    return held_ >= 0 && bind(held_, address.get(), address.length) == 0;
}

bool Marks::is_held(std::string const& name) {
    if (asks_ < 0) asks_ = new_socket();
    Address const address(name);
    return asks_ >= 0 && connect(asks_, address.get(), address.length) == 0;
}

}  // namespace sluice
