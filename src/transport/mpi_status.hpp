// These functions translate between statuses and MPI's error classes, and make errors of what MPI
// functions return.
#pragma once
#include "base/error.hpp"

namespace sluice {

[[nodiscard]] int error_class(Status status) noexcept;

/// What an MPI function returned. Of several statuses with one class the first in order.
[[nodiscard]] Status status_of_mpi(int code) noexcept;

/// An error of `call`, a function of the MPI; none where it returned MPI_SUCCESS.
[[nodiscard]] Error mpi_error(char const* call, int code, Bytes bytes = 0,
                              Offset offset = -1) noexcept;

}  // namespace sluice
