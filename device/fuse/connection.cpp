// Sockets. See connection.hpp.
#include "device/fuse/connection.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace sluice::device {
namespace {

/// Less than asked for only at the end of the connection; -1 with errno.
ssize_t receive_all(int socket, char* buffer, std::size_t bytes, bool begun) {
    std::size_t done = 0;
    while (done < bytes) {
        ssize_t const got = recv(socket, buffer + done, bytes - done, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN && !begun && done == 0) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return static_cast<ssize_t>(done);
}

/// HOST:PORT, [HOST]:PORT or PORT, looked up; null with a reason.
addrinfo* look_up(std::string const& address, std::string& why) {
    auto const colon = address.rfind(':');
    std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
    std::string const port = colon == std::string::npos ? address : address.substr(colon + 1);
    if (port.empty() || port.find_first_not_of("0123456789") != std::string::npos) {
        why = "'" + address + "': expected HOST:PORT, or PORT on this host";
        return nullptr;
    }
    if (host.empty()) host = "127.0.0.1";
    if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    int const result = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (result == 0) return found;
    why = address + ": " + gai_strerror(result);
    return nullptr;
}

template <class Use> int open_socket(std::string const& address, std::string& why, Use use) {
    addrinfo* const found = look_up(address, why);
    if (found == nullptr) return -1;
    int const fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
    bool const used = fd >= 0 && use(fd, *found);
    if (!used) why = address + ": " + std::strerror(errno);
    freeaddrinfo(found);
    if (used) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

}  // namespace

ssize_t receive_message(int socket, void* buffer, std::size_t bytes) {
    auto* const begin = static_cast<char*>(buffer);
    std::uint32_t length = 0;
    ssize_t const head = receive_all(socket, begin, sizeof length, false);
    if (head <= 0) return head;
    std::memcpy(&length, begin, sizeof length);
    if (static_cast<std::size_t>(head) < sizeof length || length < sizeof length ||
        length > bytes) {
        errno = EPROTO;
        return -1;
    }
    ssize_t const rest = receive_all(socket, begin + sizeof length, length - sizeof length, true);
    if (rest < 0) return -1;
    bool const whole = static_cast<std::size_t>(rest) == length - sizeof length;
    return whole ? static_cast<ssize_t>(length) : 0;
}

bool send_all(int socket, iovec* vectors, int count) {
    while (count > 0) {
        msghdr message{};
        message.msg_iov = vectors, message.msg_iovlen = static_cast<std::size_t>(count);
        ssize_t const sent = sendmsg(socket, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        auto left = static_cast<std::size_t>(sent);
        while (count > 0 && left >= vectors->iov_len) left -= vectors->iov_len, ++vectors, --count;
        if (count == 0) break;
        vectors->iov_base = static_cast<char*>(vectors->iov_base) + left;
        vectors->iov_len -= left;
    }
    return true;
}

void prepare(int socket) {
    int const on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

int listen_at(std::string const& address, std::string& why) {
    return open_socket(address, why, [](int fd, addrinfo const& at) {
        int const on = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        return bind(fd, at.ai_addr, at.ai_addrlen) == 0 && listen(fd, 64) == 0;
    });
}

int connect_to(std::string const& address, std::string& why) {
    return open_socket(address, why, [](int fd, addrinfo const& at) {
        prepare(fd);
        return connect(fd, at.ai_addr, at.ai_addrlen) == 0;
    });
}

void limit(int socket, int seconds) {
    timeval const time{seconds, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

namespace {

std::string written(int socket, int (*get)(int, sockaddr*, socklen_t*) noexcept) {
    sockaddr_storage at{};
    socklen_t length = sizeof at;
    char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    if (get(socket, address, &length) == 0)
        getnameinfo(address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    return std::string(host) + ":" + port;
}

}  // namespace

std::string name_of(int socket) { return written(socket, getsockname); }
std::string peer_of(int socket) { return written(socket, getpeername); }

int stop_signal() {
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGTERM);
    sigaddset(&stopping, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stopping, nullptr);
    return signalfd(-1, &stopping, SFD_CLOEXEC);
}

}  // namespace sluice::device
