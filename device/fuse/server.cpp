// A device for other hosts: the kernel of each speaks FUSE over a TCP connection. See session.hpp.
// Nothing that a peer says is believed: neither before it proved that it knows the secret, nor
// then.
#include "device/fuse/connection.hpp"
#include "device/fuse/message.hpp"
#include "device/fuse/secret.hpp"
#include "device/fuse/session.hpp"

#include <cstdio>
#include <cstring>
#include <linux/fuse.h>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace sluice::device {
namespace {

constexpr std::size_t connections_max = 32;
constexpr std::size_t pending_max = 64;  // connections that have not proved themselves
constexpr double proof_seconds = 10;
constexpr int message_seconds = 60;   // in which a message goes on that has begun
constexpr unsigned threads_max = 16;  // of one connection; each has a buffer of a message
constexpr mode_t mode_bits = 01777;   // A peer makes no program that runs as somebody else.

/// A kernel at the other end of a connection. Nothing is known by it for longer than a request, so
/// that hosts see each other's files as they are.
class RemoteClient final : public Client {
public:
    RemoteClient(Emulation& its_emulation, std::uint64_t things_max)
        : Client(its_emulation, {.mode_bits = mode_bits, .things_max = things_max}) {}
    std::mutex receiving, sending;
    MessageCheck check;  // guarded by `receiving`
};

RemoteClient& remote(void* user_data) {
    return static_cast<RemoteClient&>(*static_cast<Client*>(user_data));
}

bool send_locked(RemoteClient& client, int socket, iovec* vectors, int count) {
    std::scoped_lock const lock(client.sending);
    return send_all(socket, vectors, count);
}

/// Answers a message that libfuse does not see.
bool send_error(RemoteClient& client, int socket, char const* message, int error) {
    fuse_in_header header{};
    std::memcpy(&header, message, sizeof header);
    fuse_out_header answer{sizeof answer, -error, header.unique};
    iovec whole{&answer, sizeof answer};
    return send_locked(client, socket, &whole, 1);
}

/// The next message that libfuse may see; libfuse takes ENODEV for the end of the file system.
ssize_t receive(int socket, void* buffer, size_t bytes, void* user_data) {
    RemoteClient& client = remote(user_data);
    std::scoped_lock const lock(client.receiving);
    auto* const message = static_cast<char*>(buffer);
    for (;;) {
        ssize_t const received = receive_message(socket, buffer, bytes);
        if (received <= 0) break;
        Verdict const verdict = client.check(message, static_cast<std::size_t>(received));
        if (verdict.kind == Verdict::Kind::serve) return received;
        bool const answered = verdict.kind == Verdict::Kind::refuse &&
                              send_error(client, socket, message, verdict.error);
        if (answered) continue;
        if (*verdict.why != '\0')
            fail("ended the connection of " + peer_of(socket) + ": " + verdict.why);
        break;
    }
    shutdown(socket, SHUT_RDWR);  // Other threads wait for its next message.
    errno = ENODEV;
    return -1;
}

ssize_t send(int socket, iovec* vectors, int count, void* user_data) {
    ssize_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += ssize_t(vectors[i].iov_len);
    if (send_locked(remote(user_data), socket, vectors, count)) return bytes;
    shutdown(socket, SHUT_RDWR);
    errno = ENODEV;
    return -1;
}

void serve(Emulation& emulation, int socket, std::uint64_t things_max) {
    RemoteClient client(emulation, things_max);
    auto* const session = new_session(operations(), static_cast<Client*>(&client));
    fuse_custom_io io{};
    io.read = receive, io.writev = send;
    int const own = dup(socket);  // The session closes it.
    if (session == nullptr || own < 0) return;
    if (fuse_session_custom_io(session, &io, own) == 0) serve_session(session, threads_max);
    fuse_session_destroy(session);
}

/// All that this process may open, shared out evenly, so that no client takes what others need.
std::uint64_t share_of_descriptors() {
    rlimit most{};
    if (getrlimit(RLIMIT_NOFILE, &most) != 0) return 0;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    constexpr rlim_t others = 64 + pending_max + connections_max * (2 + threads_max);
    auto const now = std::min<rlim_t>(most.rlim_max, rlim_t{1} << 20);
    return now > others ? (now - others) / connections_max : 0;
}

/// A connection that has been sent a challenge.
struct Pending {
    int socket = -1;
    double until = 0;
    Greeting greeting;
    Claim claim;
    std::size_t received = 0;  // bytes of the claim
};

/// One connection and the thread that serves it.
struct Connection {
    int socket = -1;
    std::atomic<bool> ended{false};
    std::thread thread;
};

class Server {
public:
    Server(Emulation& emulation, std::string secret)
        : emulation_(emulation),
          secret_(std::move(secret)),
          things_max_(emulation.store->takes_descriptors()
                          ? share_of_descriptors()
                          : std::numeric_limits<std::uint64_t>::max()) {}
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;
    ~Server() {
        while (!pending_.empty()) drop(pending_.begin());
        end_connections(false);
    }

    /// Until `stopping` can be read.
    void run(int listening, int stopping) {
        for (;;) {
            std::vector<pollfd> waiting = {{listening, POLLIN, 0}, {stopping, POLLIN, 0}};
            for (auto const& one : pending_) waiting.push_back({one.socket, POLLIN, 0});
            constexpr int milliseconds = 1000;  // How long an ended connection's thread may stay.
            bool const ready = poll(waiting.data(), waiting.size(), milliseconds) > 0;
            end_connections(true);
            if (ready && waiting[1].revents != 0) return;
            auto at = pending_.begin();
            for (std::size_t i = 2; i < waiting.size(); ++i) {
                auto const next = std::next(at);
                if (ready && waiting[i].revents != 0)
                    hear(at);
                else if (at->until < now())
                    drop(at);
                at = next;
            }
            if (ready && waiting[0].revents != 0) accept_one(listening);
        }
    }

private:
    using Place = std::list<Pending>::iterator;

    void accept_one(int listening) {
        int const socket = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) return void(usleep(100'000));  // No descriptors left: it stays ready.
        prepare(socket);
        if (pending_.size() == pending_max) drop(pending_.begin());
        auto& one = pending_.emplace_back();
        one.socket = socket, one.until = now() + proof_seconds, one.greeting = new_greeting();
        if (::send(socket, &one.greeting, sizeof one.greeting, MSG_NOSIGNAL | MSG_DONTWAIT) !=
            static_cast<ssize_t>(sizeof one.greeting))
            drop(std::prev(pending_.end()));
    }

    void drop(Place at) {
        close(at->socket);
        pending_.erase(at);
    }

    /// More of a claim; once it is whole, the client is served or sent away.
    void hear(Place at) {
        auto* const begin = reinterpret_cast<char*>(&at->claim);
        auto const got =
            recv(at->socket, begin + at->received, sizeof at->claim - at->received, MSG_DONTWAIT);
        if (got <= 0) return drop(at);
        at->received += static_cast<std::size_t>(got);
        if (at->received < sizeof at->claim) return;
        if (!proves(secret_, at->greeting, at->claim)) {
            fail("refused " + peer_of(at->socket) + ": it does not know the secret");
            return drop(at);
        }
        bool const room = connections_.size() < connections_max;
        auto const answer = answer_to(secret_, at->greeting, at->claim, room ? accepted : full);
        bool const sent = ::send(at->socket, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                          static_cast<ssize_t>(sizeof answer);
        if (!room || !sent) return drop(at);
        int const socket = at->socket;
        pending_.erase(at);
        start(socket);
    }

    void start(int socket) {
        limit(socket, message_seconds);
        Connection& connection = connections_.emplace_back();
        connection.socket = socket;
        try {
            connection.thread = std::thread([this, &connection] {
                serve(emulation_, connection.socket, things_max_);
                shutdown(connection.socket, SHUT_RDWR);
                connection.ended = true;
            });
        } catch (std::system_error const&) {  // No more threads; the others go on.
            close(socket);
            connections_.pop_back();
        }
    }

    void end_connections(bool only_ended) {
        for (auto at = connections_.begin(); at != connections_.end();) {
            if (only_ended && !at->ended) {
                ++at;
                continue;
            }
            shutdown(at->socket, SHUT_RDWR);
            at->thread.join();
            close(at->socket);
            at = connections_.erase(at);
        }
    }

    Emulation& emulation_;
    std::string const secret_;
    std::uint64_t const things_max_;
    std::list<Pending> pending_;  // the oldest first
    std::list<Connection> connections_;
};

}  // namespace

int run_server(Emulation& emulation, std::string const& address, std::string const& secret_file,
               std::string const& what) {
    std::string why, from;
    auto const secret = find_secret(secret_file, true, from, why);
    if (!secret) return fail(why);
    int const listening = listen_at(address, why);
    if (listening < 0) return fail(why);
    int const stopping = stop_signal();
    std::printf("serving %s: %s, to who knows the secret in %s\n", name_of(listening).c_str(),
                what.c_str(), from.c_str());
    std::fflush(stdout);
    Server(emulation, *secret).run(listening, stopping);
    close(listening);
    close(stopping);
    return 0;
}

}  // namespace sluice::device
