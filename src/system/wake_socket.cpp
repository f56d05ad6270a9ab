// The datagrams that wake. See wake_socket.hpp.
#include "system/wake_socket.hpp"

#include "system/clock.hpp"

#include <array>
#include <poll.h>
#include <unistd.h>

namespace sluice {
namespace {

/// One for all who are woken.
int sender() noexcept {
    static int const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd;
}

}  // namespace

WakeSocket::WakeSocket(EventCount& count)
    : count_(count),
      fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    if (fd_.get() < 0) return;
    count.socket = bind_abstract(fd_.get());
    if (count.socket == AbstractName{} || sender() < 0) fd_.reset();
}

/// Who notifies adds the event first and then looks for sleepers; here it is the other way round.
void WakeSocket::sleep(int fd, std::uint32_t seen, double seconds_max) noexcept {
    count_.pollers.fetch_add(1, std::memory_order_seq_cst);
    if (count_.events.load(std::memory_order_seq_cst) == seen) {
        std::array<pollfd, 2> waited{{{fd_.get(), POLLIN, 0}, {fd, POLLIN, 0}}};
        timespec const timeout = timespec_of(seconds_max);
        ppoll(waited.data(), waited.size(), &timeout, nullptr);
    }
    count_.pollers.fetch_sub(1, std::memory_order_seq_cst);
    // Not all: anybody may send to an abstract name, and faster than this takes them away. Those
    // that are left end the next sleep at once.
    constexpr int datagrams_at_once = 64;
    std::array<char, 16> letters;
    for (int i = 0; i < datagrams_at_once; ++i)
        if (recv(fd_.get(), letters.data(), letters.size(), 0) <= 0) return;
}

/// Where the socket's queue is full, the sleeper wakes up by what is in it.
void wake_socket_of(EventCount const& count) noexcept {
    AbstractAddress to(count.socket);
    char const letter = 1;
    (void)!sendto(sender(), &letter, 1, MSG_NOSIGNAL, to.get(), to.length);
}

}  // namespace sluice
