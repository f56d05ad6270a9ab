// All kernels on all patterns: the files must be those of a serial model, byte by byte.
#pragma once
#include "tools/simulate/scenario.hpp"

namespace sluice::tools {

/// The ways to exchange that are checked and compared: kernels, one layer and two.
[[nodiscard]] std::vector<Delivery> all_deliveries();
[[nodiscard]] std::vector<Throttle> all_throttles();

/// Simulates all patterns with all kernels on the scenario's machine, both directions, and prints
/// what differs; progress goes to stderr. Returns an exit code.
[[nodiscard]] int check_kernels(Scenario const& scenario);

}  // namespace sluice::tools
