// The settings of this process, which it reads from its environment once.
#pragma once
#include "settings/settings.hpp"

namespace sluice {

/// The value of an environment variable now; nothing where it is not set.
[[nodiscard]] std::optional<std::string> environment_variable(char const* name);
/// What SLUICE says now, for those who ask before the settings may be read, or in another process
/// than they are for. What cannot be understood says nothing.
[[nodiscard]] ServedSetting served_now();
/// Whether SLUICE_LOG forbids even warnings, for the same.
[[nodiscard]] bool is_silent_now();

/// Read from the environment when first asked for.
[[nodiscard]] Settings const& settings();

/// What could not be understood of the environment. Each complaint is given out once.
[[nodiscard]] std::vector<Complaint> take_complaints();

}  // namespace sluice
