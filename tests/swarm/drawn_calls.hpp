// Collective calls of drawn patterns: what each rank asks for, with memory of its own.
#pragma once
#include "tests/placed_random.hpp"
#include "tests/unit/simulated_parts.hpp"

#include <vector>

namespace sluice::swarm {

using random_test::Random;

inline constexpr std::byte unread{0x5a};  ///< What memory has where nothing may be written.

/// What a rank brings to a call.
struct DrawnPart {
    Request request;
    std::vector<std::byte> memory;           ///< From the origin of `request.memory` on.
    std::vector<Offset> in_file, in_memory;  ///< Where each byte of the request lies.
    bool on_device = false;
    bool filled_later = false;  ///< The device brings it when the call may begin.
};

/// Not the library's own limits: what a drawn call may have.
struct CallLimits {
    Rank ranks = 1;
    Bytes bytes = 3000;  ///< Of a rank.
    bool memory_layouts = true;
};

/// What the ranks ask for, from offset `at` of the file on. Ranks' bytes meet only in calls whose
/// `meets` is true.
[[nodiscard]] std::vector<DrawnPart> draw_parts(Random random, CallLimits const& limits, Offset at,
                                                Direction way, bool meets);

/// The value of a rank's byte number `i` of a call; never 0.
[[nodiscard]] inline std::byte value_of(std::int64_t call, Rank rank, Bytes i) {
    return testing::value_of(rank + static_cast<Rank>(17 * call), i);
}

/// Fills memory as the program would: with what a write has to bring, or with `unread`.
void fill(DrawnPart& part, std::int64_t call, Rank rank);

}  // namespace sluice::swarm
