// Errors of the system as statuses.
#pragma once
#include "base/status.hpp"

namespace sluice {

Status status_of_errno(int error) noexcept;

}  // namespace sluice
