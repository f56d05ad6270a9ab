// Messages of FUSE on a TCP connection: each begins with its own length.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>
#include <sys/uio.h>

namespace sluice::device {

/// A message is at most a request of the largest size with its header.
constexpr std::size_t message_bytes_max = (std::size_t{1} << 20) + 4096;

/// Waits for a whole message; its length, 0 at the end of the connection, -1 with errno. With a
/// time limit a message that has begun is to go on; between messages there is none.
[[nodiscard]] ssize_t receive_message(int socket, void* buffer, std::size_t bytes);
/// Sends all; false with errno. Changes the vectors.
[[nodiscard]] bool send_all(int socket, iovec* vectors, int count);

/// A socket that listens to HOST:PORT, or is connected to it; -1 with a reason. Without a HOST this
/// host, by its loopback.
[[nodiscard]] int listen_at(std::string const& address, std::string& why);
[[nodiscard]] int connect_to(std::string const& address, std::string& why);
/// Small messages at once; an end that is gone is noticed.
void prepare(int socket);
/// How long receiving and sending may stand still; 0: for ever.
void limit(int socket, int seconds);
/// HOST:PORT that a socket has, or that of its other end.
[[nodiscard]] std::string name_of(int socket);
[[nodiscard]] std::string peer_of(int socket);

/// A descriptor that can be read when SIGTERM or SIGINT came, which do nothing else any more, in
/// this thread and those it starts.
[[nodiscard]] int stop_signal();

}  // namespace sluice::device
