// A GpuDriver is what this room asks of a vendor's driver: on which device an address lies, copies
// in the order of a stream, and events that tell of their ends. It knows no copy of anybody and
// decides nothing. Its bodies are cuda_driver.hpp, hip_driver.hpp, level_zero_driver.hpp and one in
// tests.
#pragma once
#include "base/error.hpp"
#include "base/request.hpp"
#include "base/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

/// What a function of a driver returned. Success is zero in all of them.
struct GpuResult {
    char const* function = nullptr;  ///< By its name in the driver. Never freed.
    int code = 0;

    [[nodiscard]] bool failed() const noexcept { return code != 0; }
};

/// Where a copy runs: numbers that mean something to one driver only.
struct GpuContext {
    std::uintptr_t context = 0, device = 0;
    bool operator==(GpuContext const&) const = default;
};

/// Where an address lies.
struct GpuPlace {
    enum class Kind : std::uint8_t {
        host,     ///< Or no address that the driver knows.
        managed,  ///< It moves between host and device; the processor reaches it.
        device,
    };
    Kind kind = Kind::host;
    GpuContext context;  ///< Of a device's.
    Span allocation;     ///< Around the address; empty where the driver does not say.
};

/// Copies that run one after the other, and points in such an order. Null: none.
using GpuStream = void*;
using GpuEvent = void*;

/// The longest distance between rows that all drivers take in one copy.
inline constexpr Offset longest_pitch = 0x7fff'ffff;

/// Any thread may call each function; calls with the same stream come one at a time. None blocks
/// unless it says so. Objects live until the process ends, because the program may end its driver
/// first.
class GpuDriver {
public:
    GpuDriver() = default;
    virtual ~GpuDriver() = default;
    GpuDriver(GpuDriver const&) = delete;
    GpuDriver& operator=(GpuDriver const&) = delete;

    [[nodiscard]] virtual GpuPlace where(Offset address) noexcept = 0;
    /// Why nothing can be copied, in a sentence that is never freed, and then nothing below is
    /// called; null where copies are possible.
    [[nodiscard]] virtual char const* cannot_copy() const noexcept { return nullptr; }
    /// What the result of a function that failed tells the user.
    [[nodiscard]] virtual Error error_of(GpuResult failed) const = 0;

    virtual GpuResult make_stream(GpuContext, GpuStream& stream) = 0;
    virtual void destroy_stream(GpuContext, GpuStream) noexcept = 0;
    virtual GpuResult make_event(GpuContext, GpuEvent& event) = 0;
    virtual void destroy_event(GpuContext, GpuEvent) noexcept = 0;

    /// Of a write from the device to the host, of a read to the device. `row` is one piece, or its
    /// strides are not less than its length and at most `longest_pitch`. May block where memory of
    /// the host is not registered.
    virtual GpuResult copy(GpuContext, GpuStream, Direction way, Rows const& row) = 0;
    /// Whether there is a program of the device that copies many rows at once. May take long at
    /// first.
    [[nodiscard]] virtual bool has_row_kernel(GpuContext) { return false; }
    /// Rows, in memory of the host that is registered and lives until the stream is past it, whose
    /// parts of the host are registered, too. Only where there is such a program.
    virtual GpuResult copy_rows(GpuContext, GpuStream, std::span<Rows const>) { return {}; }

    /// The event is at the stream's end now.
    virtual GpuResult record(GpuContext, GpuStream, GpuEvent) = 0;
    /// Whether the stream is past the event; an error may be that of a copy before it.
    virtual GpuResult query(GpuContext, GpuEvent, bool& is_past) = 0;
    /// Sleeps until it is. Blocks.
    virtual GpuResult synchronize(GpuContext, GpuEvent) = 0;

    /// Where a stream of the program belongs; of one that stands for each thread's own, the calling
    /// thread's.
    virtual GpuResult context_of(GpuStream, GpuContext&) { return {}; }

    /// From now on copies reach these pages of the host directly, from all contexts of the driver.
    /// They are the process's for good. Takes as long as it takes to bring them into memory.
    virtual GpuResult register_host(GpuContext, std::span<std::byte> pages) = 0;
};

/// "cuMemcpyHtoDAsync: CUDA_ERROR_ILLEGAL_ADDRESS", in an error. `name`: of the code.
[[nodiscard]] Error gpu_error(Status status, GpuResult const& failed, char const* name);

}  // namespace sluice
