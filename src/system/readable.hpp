// Whether the processor reaches memory, asked of the kernel, as a look at it could end the program.
#pragma once

namespace sluice {

/// True as well where the kernel does not say. Any thread; some microseconds.
[[nodiscard]] bool is_readable(void const* byte) noexcept;

}  // namespace sluice
