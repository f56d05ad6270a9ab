// These pure functions find what is wrong with a schedule, or with those of all ranks together,
// without running them.
#pragma once
#include "schedule/schedule.hpp"

#include <span>
#include <string>

namespace sluice {

/// Empty when sound: edges point back, memory roles fit the ops.
[[nodiscard]] std::string first_fault(Schedule const& schedule);

/// Empty when all ranks' schedules fit together: messages pair up, every await can be satisfied,
/// and a round's collective buffer is obtained before it is touched, and given back once.
/// `schedules[r]` is all that rank r does from the counters' value 0 on.
[[nodiscard]] std::string first_fault(std::span<Schedule const> schedules, Topology const& topology,
                                      std::int32_t cb_buffer_count);

}  // namespace sluice
