// These pure functions turn schedules into text: for people, for golden tests and for the stall
// watchdog.
#pragma once
#include "schedule/schedule.hpp"

#include <string>

namespace sluice {

[[nodiscard]] std::string describe(Op const& op);
[[nodiscard]] std::string describe(Schedule const& schedule);  ///< Stable text: golden tests.

}  // namespace sluice
