// A device for other hosts: the kernel of each speaks FUSE over a TCP connection. See session.hpp.
#include "tools/device/connection.hpp"
#include "tools/device/session.hpp"

#include <cstdio>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace sluice::device {
namespace {

/// A kernel at the other end of a connection. Nothing is known by it for longer than a request, so
/// that hosts see each other's files as they are.
class RemoteClient final : public Client {
public:
    explicit RemoteClient(Emulation& its_emulation) : Client(its_emulation, false, 0) {}
    std::mutex receiving, sending;
};

RemoteClient& remote(void* user_data) {
    return static_cast<RemoteClient&>(*static_cast<Client*>(user_data));
}

/// libfuse takes ENODEV for the end of the file system.
ssize_t receive(int socket, void* buffer, size_t bytes, void* user_data) {
    std::scoped_lock const lock(remote(user_data).receiving);
    ssize_t const received = receive_message(socket, buffer, bytes);
    if (received > 0) return received;
    errno = ENODEV;
    return -1;
}

ssize_t send(int socket, iovec* vectors, int count, void* user_data) {
    ssize_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += ssize_t(vectors[i].iov_len);
    std::scoped_lock const lock(remote(user_data).sending);
    if (send_all(socket, vectors, count)) return bytes;
    errno = ENODEV;
    return -1;
}

/// One connection and the thread that serves it.
struct Connection {
    int socket = -1;
    std::atomic<bool> ended{false};
    std::thread thread;
};

void serve(Emulation& emulation, int socket) {
    RemoteClient client(emulation);
    auto* const session = new_session(operations(), static_cast<Client*>(&client));
    fuse_custom_io io{};
    io.read = receive, io.writev = send;
    int const own = dup(socket);  // The session closes it.
    if (session == nullptr || own < 0) return;
    if (fuse_session_custom_io(session, &io, own) == 0) serve_session(session);
    fuse_session_destroy(session);
}

void end_connections(std::list<Connection>& all, bool only_ended) {
    for (auto at = all.begin(); at != all.end();) {
        if (only_ended && !at->ended) {
            ++at;
            continue;
        }
        shutdown(at->socket, SHUT_RDWR);
        at->thread.join();
        close(at->socket);
        at = all.erase(at);
    }
}

}  // namespace

int run_server(Emulation& emulation, std::string const& address, std::string const& what) {
    std::string why;
    int const listening = listen_at(address, why);
    if (listening < 0) return fail(why);
    int const stopping = stop_signal();
    std::printf("serving %s: %s\n", name_of(listening).c_str(), what.c_str());
    std::fflush(stdout);
    std::list<Connection> all;
    for (;;) {
        pollfd waiting[] = {{listening, POLLIN, 0}, {stopping, POLLIN, 0}};
        constexpr int milliseconds = 1000;  // How long an ended connection's thread may stay.
        int const ready = poll(waiting, 2, milliseconds);
        end_connections(all, true);
        if (ready <= 0) continue;
        if (waiting[1].revents != 0) break;
        int const socket = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) continue;
        prepare(socket);
        Connection& connection = all.emplace_back();
        connection.socket = socket;
        connection.thread = std::thread([&emulation, &connection] {
            serve(emulation, connection.socket);
            shutdown(connection.socket, SHUT_RDWR);
            connection.ended = true;
        });
    }
    end_connections(all, false);
    close(listening);
    close(stopping);
    return 0;
}

}  // namespace sluice::device
