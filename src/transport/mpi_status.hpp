// Statuses and MPI's error classes, both ways.
#pragma once
#include "base/status.hpp"

namespace sluice {

[[nodiscard]] int error_class(Status status) noexcept;

/// What an MPI function returned. Of several statuses with one class the first in order.
[[nodiscard]] Status status_of_mpi(int code) noexcept;

}  // namespace sluice
