// ROMIO reads hints for all programs from a file of the system or of the user. These functions read
// the same file.
#pragma once
#include <string>

namespace sluice {

/// Lines with a name and a value, of hints that are known here: of the file that ROMIO_HINTS names,
/// or, where there is none to be read, of /etc/romio-hints. Read once by a process.
[[nodiscard]] std::string const& system_hints();

}  // namespace sluice
