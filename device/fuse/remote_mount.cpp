// A mount whose requests go to a server: a pump between the kernel and a TCP connection. See
// session.hpp.
#include "device/fuse/connection.hpp"
#include "device/fuse/secret.hpp"
#include "device/fuse/session.hpp"

#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace sluice::device {
namespace {

/// Requests, until the file system is unmounted or the connection ends.
void pump_up(int kernel, int socket) {
    std::vector<char> buffer(message_bytes_max);
    for (;;) {
        ssize_t const bytes = ::read(kernel, buffer.data(), buffer.size());
        if (bytes < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
        if (bytes <= 0) return;
        iovec whole{buffer.data(), size_t(bytes)};
        if (!send_all(socket, &whole, 1)) return;
    }
}

/// Replies. The kernel refuses those that nobody waits for any more.
void pump_down(int kernel, int socket) {
    std::vector<char> buffer(message_bytes_max);
    for (;;) {
        ssize_t const bytes = receive_message(socket, buffer.data(), buffer.size());
        if (bytes <= 0) return;
        if (::write(kernel, buffer.data(), size_t(bytes)) < 0 && errno == ENODEV) return;
    }
}

template <class Message> bool receive_whole(int socket, Message& message) {
    return recv(socket, &message, sizeof message, MSG_WAITALL) ==
           static_cast<ssize_t>(sizeof message);
}

/// Each side proves to the other that it knows the secret; else why not.
std::string shake_hands(int socket, std::string const& secret) {
    constexpr int seconds = 10;
    limit(socket, seconds);
    Greeting greeting;
    if (!receive_whole(socket, greeting) || !is_greeting(greeting))
        return "no sluice device of this version answers there";
    Claim claim = claim_for(secret, greeting);
    Answer answer;
    iovec bytes{&claim, sizeof claim};
    if (!send_all(socket, &bytes, 1) || !receive_whole(socket, answer))
        return "it refused: its secret is another one";
    if (!proves(secret, greeting, claim, answer)) return "it does not know the secret itself";
    if (answer.status != accepted) return "it serves as many as it can";
    limit(socket, 0);
    return {};
}

}  // namespace

int run_remote_mount(std::string const& address, std::string const& secret_file,
                     std::string const& directory) {
    std::string why, from;
    auto const secret = find_secret(secret_file, false, from, why);
    if (!secret) return fail(why);
    int const socket = connect_to(address, why);
    if (socket < 0) return fail("no connection to " + why);
    why = shake_hands(socket, *secret);
    if (!why.empty()) return fail(address + ": " + why);
    fuse_lowlevel_ops const nothing{};
    auto* const session = new_session(nothing, nullptr);
    if (session == nullptr) return 1;
    if (fuse_session_mount(session, directory.c_str()) != 0)
        return fail("mounting on " + directory + " failed: is mounting allowed here?");
    int const kernel = fuse_session_fd(session), stopping = stop_signal();
    int ended[2] = {-1, -1};
    if (pipe(ended) != 0) return fail("no pipe");
    auto const pump = [&ended, kernel, socket](void (*way)(int, int)) {
        std::thread([way, kernel, socket, end = ended[1]] {
            way(kernel, socket);
            [[maybe_unused]] auto const told = ::write(end, "", 1);
        }).detach();
    };
    pump(pump_up);
    pump(pump_down);
    std::printf("mounted %s: served by %s\n", directory.c_str(), address.c_str());
    std::fflush(stdout);
    pollfd waiting[] = {{stopping, POLLIN, 0}, {ended[0], POLLIN, 0}};
    while (poll(waiting, 2, -1) < 0) continue;
    bool const told = waiting[0].revents != 0;
    fuse_session_unmount(session);
    if (!told) fail("the connection to " + address + " ended: unmounted " + directory);
    std::fflush(nullptr);
    std::_Exit(told ? 0 : 1);  // The pumps may be waiting for what will never come.
}

}  // namespace sluice::device
