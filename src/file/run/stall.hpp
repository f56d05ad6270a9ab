// A Stall is what is known of a collective call that does not move on, and its sentence for the
// people who run the program: which function on which file, and whom it waits for. Pure.
#pragma once
#include "events/event.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

struct Stall {
    char const* function = nullptr;  ///< Of MPI; null: the library does not know it.
    std::string file{};              ///< Empty: it does not know that either.
    /// Some rank may not have made the call. Then those of this node are known that have not.
    bool awaits_calls = false;
    std::int32_t missing = 0;               ///< How many of them.
    std::vector<std::int32_t> ranks{};      ///< Which, in the job and in order; empty: not known.
    std::int32_t here = 1, all = 1;         ///< Ranks of the file: of this node, of all.
    TraceWait reason = TraceWait::unknown;  ///< Where all have made the call.
};

/// Such as "MPI_File_write_all on /a/b waits for rank 1, which has not called it".
[[nodiscard]] std::string describe(Stall const& stall);

}  // namespace sluice
