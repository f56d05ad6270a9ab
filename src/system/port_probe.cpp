// The connections that probe. See port_probe.hpp.
#include "system/port_probe.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace sluice {
namespace {

sockaddr_storage address_in(std::vector<std::byte> const& bytes) noexcept {
    sockaddr_storage address{};
    std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
    return address;
}

PortProbe::Result result_of(int error) noexcept {
    if (error == 0) return PortProbe::Result::alive;
    return error == ECONNREFUSED ? PortProbe::Result::refused : PortProbe::Result::unknown;
}

}  // namespace

bool PortProbe::is_possible() const noexcept {
    auto const family = address_in(address_).ss_family;
    return family == AF_INET || family == AF_INET6;
}

/// What ends without an answer begins again at the next look.
PortProbe::Result PortProbe::look() noexcept {
    if (!is_possible()) return Result::unknown;
    if (fd_.get() >= 0) {
        pollfd waited{fd_.get(), POLLOUT, 0};
        if (poll(&waited, 1, 0) == 0) return Result::unknown;
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
        fd_.reset();
        return result_of(error);
    }
    sockaddr_storage const to = address_in(address_);
    fd_ = Descriptor(socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd_.get() < 0) return Result::unknown;
    auto const length = static_cast<socklen_t>(address_.size());
    int const code = connect(fd_.get(), reinterpret_cast<sockaddr const*>(&to), length);
    int const error = code == 0 ? 0 : errno;
    if (error == EINPROGRESS) return Result::unknown;
    fd_.reset();
    return result_of(error);
}

}  // namespace sluice
