// Which memory of the program lies on a GPU: the drivers that the program has loaded say so. None
// is linked, or loaded, for this; a program without one pays some nanoseconds a call.
#pragma once
#include "base/program_stream.hpp"
#include "gpu/device_at.hpp"
#include "gpu/stream_point.hpp"

#include <functional>

namespace sluice {

/// Whether the program has loaded a driver: where it has none all memory is the host's. Any thread.
[[nodiscard]] bool has_gpu_driver();

/// The device on which the memory lies; null where the processor reaches it, as it does managed
/// memory. A driver is found however and whenever the program, or a library of it, has loaded it.
/// The device is never destroyed. Any thread; does not block but for a library that is being
/// loaded.
[[nodiscard]] Device* device_of(void const* address);

/// Memory of which parts may lie on the host and on several devices, by absolute addresses. Never
/// destroyed. Any thread.
[[nodiscard]] Device& mixed_memory();

/// Where the end of a stream of the program is now. Null, with an error, where the program has no
/// driver of that type, or the driver says no. Any thread.
[[nodiscard]] std::shared_ptr<StreamPoint> end_of(ProgramStream const& stream, Error& error);

/// Called from now on whenever a copy has ended or a stream has come to a point, by a thread of the
/// library or by the one that started the copy; it must not block. Once; nobody is told of
/// what began before.
void ring_by(std::function<void()> ring);

}  // namespace sluice
