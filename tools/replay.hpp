// Writes what a journal holds to the files where it belongs.
#pragma once
#include "base/extent.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sluice {

struct ReplayOutcome {
    std::int64_t writes = 0;  ///< That are in their files now.
    Bytes bytes = 0;
    std::vector<std::string> refused;  ///< Why others are not, a line each.
};

/// Each write that is in its file is cleared from the journal, so that nothing is written twice and
/// a second call goes on where the first one ended. Blocks.
ReplayOutcome replay(std::span<std::byte> journal);

}  // namespace sluice
