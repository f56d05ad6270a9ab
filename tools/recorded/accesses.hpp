// The collective accesses of a recorded log, each distinct one once, as requests of all ranks: what
// `sluice explain` and `sluice simulate` take in place of a pattern.
#pragma once
#include "base/request.hpp"
#include "base/topology.hpp"
#include "tools/recorded/log.hpp"

#include <map>
#include <string>

namespace sluice::tools {

struct RecordedAccess {
    std::string call, file;                    ///< The MPI's name of it, without MPI_File_.
    std::map<std::string, std::string> hints;  ///< Those that the file was opened with.
    Direction direction = Direction::write;
    bool blocking = true;
    std::vector<Request> requests;    ///< Of each rank of the file.
    std::int32_t ranks_per_node = 1;  ///< 0: nodes have different numbers of them.
    std::int32_t cores = 0;           ///< Of the rank with fewest; 0: the log does not say.
    Bytes bytes = 0;                  ///< Of all ranks, in one call.
    std::int64_t calls = 0;           ///< Calls that are alike, but for their places.
    double seconds = 0;  ///< In all these calls and their waits, of the slowest rank of each.
};

struct RecordedAccesses {
    std::vector<RecordedAccess> all;  ///< That which took longest first.
    Bytes independent_bytes = 0;      ///< Of calls that are not collective: not among them.
    std::int64_t independent_calls = 0;
    double independent_seconds = 0;  ///< Of the rank with most of them.
};

/// Of collective calls as far as all ranks of a file have made them.
[[nodiscard]] RecordedAccesses accesses_of(record::Log const& log);

/// One line.
[[nodiscard]] std::string describe(RecordedAccess const& access);

}  // namespace sluice::tools
