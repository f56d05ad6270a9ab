// These functions turn errnos into statuses, errors and text.
#pragma once
#include "base/error.hpp"

#include <string>

namespace sluice {

[[nodiscard]] Status status_of_errno(int error) noexcept;

/// An error of `call`, a function of the system; none where `error` is 0.
[[nodiscard]] Error system_error(char const* call, int error, Bytes bytes = 0,
                                 Offset offset = -1) noexcept;

/// As people know it: "No space left on device (ENOSPC)".
[[nodiscard]] std::string errno_text(int error);
/// `what` failed, and why by errno: "cannot write a: No space left on device (ENOSPC)".
[[nodiscard]] std::string with_errno(std::string const& what);

}  // namespace sluice
