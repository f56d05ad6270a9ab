// A keeper is a process beside each rank that runs with write-behind. It does nothing while the
// rank lives. When the rank has ended, however it ended, the keeper writes out what the rank had
// taken and not written yet.
#pragma once
#include "base/extent.hpp"

#include <string>

namespace sluice {

/// Starts the keeper of this process, which may become another program then, and tells that by an
/// environment variable where delayed bytes are to lie: `bytes` of memory that both have, or a file
/// in `folder`, where one is named. Returns at once, but for the room in the folder. Empty, or why
/// the system refuses; the program then runs without.
[[nodiscard]] std::string start_keeper(Bytes bytes, std::string const& folder);

}  // namespace sluice
