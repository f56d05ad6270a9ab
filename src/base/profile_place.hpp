// Where a machine's profile lies: one for each host and file system. Pure naming and parsing; the
// system is asked in storage/profile_path.hpp.
#pragma once
#include <optional>
#include <string>

namespace sluice {

/// A mounted file system, as the kernel lists it.
struct Mount {
    std::string point;   ///< Its folder.
    std::string type;    ///< ext4, fuse.sluice.
    std::string source;  ///< A device, a server and folder; may be empty or none.
    bool operator==(Mount const&) const = default;
};

/// The file system that holds an absolute path without links; `table` is what
/// /proc/self/mountinfo says. Of file systems mounted over one another the last one.
[[nodiscard]] std::optional<Mount> mount_of(std::string const& table, std::string const& path);

/// The name of the profile's file: letters, digits, dots, dashes and underscores only.
[[nodiscard]] std::string profile_name(std::string const& host, Mount const& mount);

}  // namespace sluice
