// A device mounted here, served to other hosts, or mounted from one of those. Each function runs
// until it is told to end, by SIGTERM or SIGINT, and returns an exit code.
#pragma once
#include "device/fuse/operations.hpp"

#include <optional>
#include <string>

namespace sluice::device {

/// Says why on stderr; returns 1.
int fail(std::string const& why);

/// Why mounting cannot work here, and what helps; or empty.
[[nodiscard]] std::string first_obstacle(std::string const& directory);

/// A session of libfuse that is not mounted yet; null after a message.
[[nodiscard]] fuse_session* new_session(fuse_lowlevel_ops const& operations, void* user_data);
/// Serves with at most so many threads until the session ends; false if that was an error.
bool serve_session(fuse_session* session, unsigned threads);

int run_mount(Emulation& emulation, std::string const& directory, bool page_cache,
              std::string const& what);

/// `address`: HOST:PORT, or PORT for the loopback; only this one is listened to. Who knows the
/// secret is served: see secret.hpp.
int run_server(Emulation& emulation, std::string const& address, std::string const& secret_file,
               std::string const& what);
/// Mounts what a server at that address serves. Ends also when the connection does, with code 1.
int run_remote_mount(std::string const& address, std::string const& secret_file,
                     std::string const& directory);

}  // namespace sluice::device
