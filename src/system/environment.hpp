// The settings of this process, which it reads from its environment once.
#pragma once
#include "settings/settings.hpp"

namespace sluice {

/// Read from the environment when first asked for.
[[nodiscard]] Settings const& settings();

/// What could not be understood of the environment. Each complaint is given out once.
[[nodiscard]] std::vector<Complaint> take_complaints();

}  // namespace sluice
