// A keeper is a process beside each rank that runs with write-behind. It does nothing while the
// rank lives. When the rank has ended, however it ended, the keeper writes out what the rank had
// taken and not written yet.
#pragma once
#include "base/extent.hpp"

namespace sluice {

/// Starts the keeper of this process, which may become another program then, and tells that by an
/// environment variable where delayed bytes are to lie: in memory of `bytes` that both have. False
/// where the system refuses; the program then runs without. Returns at once.
bool start_keeper(Bytes bytes);

}  // namespace sluice
