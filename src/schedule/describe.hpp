// Schedules as text and as a number: for people, golden tests and the stall watchdog. Pure.
#pragma once
#include "schedule/schedule.hpp"

#include <string>

namespace sluice {

[[nodiscard]] std::string describe(Op const& op);
[[nodiscard]] std::string describe(Schedule const& schedule);  ///< Stable text: golden tests.

/// A number that tells schedules apart; independent of addresses and of the order of ranks' calls.
[[nodiscard]] std::uint64_t digest(Schedule const& schedule) noexcept;

}  // namespace sluice
