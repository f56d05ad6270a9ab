// What a simulation gave, for people and for programs.
#pragma once
#include "tools/simulate/scenario.hpp"

namespace sluice::tools {

/// 1.23 ms, 45.6 us: three digits and a unit.
[[nodiscard]] std::string seconds_text(double seconds);
[[nodiscard]] std::string bytes_text(double bytes);

void print(Scenario const& scenario, simulated::Outcome const& outcome, double real_seconds);

/// One line of JSON; `more` are members that go ahead: "name": value, each with a comma behind.
[[nodiscard]] std::string json(Scenario const& scenario, simulated::Outcome const& outcome,
                               std::string const& more = "");

/// The kernels that hints ask for, in a word: "two-layer,balanced" or, where metadata and data
/// differ, both.
[[nodiscard]] std::string kernels_text(Hints const& hints);

}  // namespace sluice::tools
