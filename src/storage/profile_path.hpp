// These functions say where the profile of a folder's file system is looked for, and where `sluice
// calibrate` writes it.
#pragma once
#include "base/profile_place.hpp"

namespace sluice {

/// For profiles: $XDG_CONFIG_HOME/sluice or ~/.config/sluice; empty where there is no home.
[[nodiscard]] std::string profile_folder();

/// The profile's file for this host and the file system of a path that exists; empty where there
/// is no home, or the system does not tell.
[[nodiscard]] std::string profile_path(std::string const& path);

/// The file system of a path that exists.
[[nodiscard]] std::optional<Mount> mount_of_path(std::string const& path);

/// Of this host, without its domain.
[[nodiscard]] std::string host_name();

/// What a file says; nothing where it cannot be read, and then `error` says why.
[[nodiscard]] std::optional<std::string> text_of_file(std::string const& path, std::string& error);

}  // namespace sluice
