// Whether memory lies on a GPU. The driver that the program has loaded says so; none is linked, or
// loaded, for this.
#pragma once

namespace sluice {

/// Whether the memory is a device's, which the processor cannot reach; managed memory moves, and is
/// not. A driver is found however and whenever the program, or a library of it, has loaded it: CUDA
/// and HIP. Any thread; does not block.
[[nodiscard]] bool is_device_memory(void const* memory) noexcept;

}  // namespace sluice
