// These pure functions turn schedules into text and into a number: for people, for golden tests and
// for the stall watchdog.
#pragma once
#include "schedule/schedule.hpp"

#include <string>

namespace sluice {

[[nodiscard]] std::string describe(Op const& op);
[[nodiscard]] std::string describe(Schedule const& schedule);  ///< Stable text: golden tests.

/// A number that tells schedules apart; independent of addresses and of the order of ranks' calls.
[[nodiscard]] std::uint64_t digest(Schedule const& schedule) noexcept;

}  // namespace sluice
