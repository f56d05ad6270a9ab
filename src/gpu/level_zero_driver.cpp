// Level Zero tells nothing of an address without a context, and nobody tells which contexts the
// program has. So an address is looked for with the default context of each of its drivers, or one
// that is made here, which its drivers for Intel's GPUs answer for memory of all contexts. See
// level_zero_driver.hpp.
//
// A stream is a list of commands that run as soon as they are appended, in any order, so an event
// is a barrier behind all that are there.
#include "gpu/level_zero_driver.hpp"

#include "gpu/level_zero_functions.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace sluice {
namespace {

void* pointer_of(std::uintptr_t handle) noexcept { return reinterpret_cast<void*>(handle); }
std::uintptr_t handle_of(void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

char const* ze_name(int code) noexcept {
    switch (code) {
    case ze_device_lost:
        return "ZE_RESULT_ERROR_DEVICE_LOST";
    case ze_out_of_host_memory:
        return "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY";
    case ze_out_of_device_memory:
        return "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY";
    case ze_uninitialized:
        return "ZE_RESULT_ERROR_UNINITIALIZED";
    case ze_unsupported_feature:
        return "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE";
    case ze_invalid_argument:
        return "ZE_RESULT_ERROR_INVALID_ARGUMENT";
    case ze_invalid_null_pointer:
        return "ZE_RESULT_ERROR_INVALID_NULL_POINTER";
    case ze_invalid_size:
        return "ZE_RESULT_ERROR_INVALID_SIZE";
    default:
        return nullptr;
    }
}

Status ze_status(int code) noexcept {
    switch (code) {
    case ze_out_of_host_memory:
    case ze_out_of_device_memory:
        return Status::no_memory;
    case ze_invalid_argument:
    case ze_invalid_null_pointer:
    case ze_invalid_size:
        return Status::buffer;
    default:
        return Status::other;
    }
}

/// One of the drivers behind the loader, with the context in which it is asked.
struct ZeDriver {
    void* driver = nullptr;
    void* context = nullptr;
    int (*import_pointer)(void*, void*, std::size_t) = nullptr;  ///< Registers; Intel's have it.
};

/// An event has a pool of its own: pools have a length, and events are few.
struct ZeEvent {
    void* pool = nullptr;
    void* event = nullptr;
};

class LevelZeroDriver final : public GpuDriver {
public:
    explicit LevelZeroDriver(LoadedLibrary const& library) noexcept : ze_(library) {}

    GpuPlace where(Offset address) noexcept override;
    [[nodiscard]] char const* cannot_copy() const noexcept override {
        return ze_.can_copy() ? nullptr
                              : "the buffer lies on a GPU, and this Level Zero loader lacks "
                                "functions that copy from there: copy it to memory of the host "
                                "first";
    }
    [[nodiscard]] Error error_of(GpuResult failed) const override {
        return gpu_error(ze_status(failed.code), failed, ze_name(failed.code));
    }

    GpuResult make_stream(GpuContext context, GpuStream& stream) override {
        ZeQueueDescription const wanted;
        return {"zeCommandListCreateImmediate",
                ze_.create_list(pointer_of(context.context), pointer_of(context.device), &wanted,
                                &stream)};
    }
    void destroy_stream(GpuContext, GpuStream stream) noexcept override {
        ze_.destroy_list(stream);
    }
    GpuResult make_event(GpuContext context, GpuEvent& event) override;
    void destroy_event(GpuContext, GpuEvent event) noexcept override {
        auto* const own = static_cast<ZeEvent*>(event);
        if (own->event) ze_.destroy_event(own->event);
        if (own->pool) ze_.destroy_event_pool(own->pool);
        delete own;
    }

    GpuResult copy(GpuContext context, GpuStream stream, Direction way, Rows const& row) override;

    GpuResult record(GpuContext, GpuStream stream, GpuEvent event) override {
        void* const own = static_cast<ZeEvent*>(event)->event;
        if (int const code = ze_.reset_event(own); code != ze_success)
            return {"zeEventHostReset", code};
        return {"zeCommandListAppendBarrier", ze_.append_barrier(stream, own, 0, nullptr)};
    }
    GpuResult query(GpuContext, GpuEvent event, bool& is_past) override {
        int const code = ze_.query_event(static_cast<ZeEvent*>(event)->event);
        is_past = code == ze_success;
        return {"zeEventQueryStatus", code == ze_not_ready ? ze_success : code};
    }
    GpuResult synchronize(GpuContext context, GpuEvent event) override;
    GpuResult register_host(GpuContext context, std::span<std::byte> pages) override;

private:
    std::vector<ZeDriver> const& drivers() noexcept;
    void look_for_drivers() noexcept;
    [[nodiscard]] ZeDriver with_context(void* driver) const noexcept;

    LevelZeroFunctions const ze_;
    std::mutex mutex_;
    std::atomic<bool> is_known_{false};
    std::vector<ZeDriver> drivers_;  ///< Never changes once it is known.
};

/// The program may load the loader long before it initialises it: until then there are none.
std::vector<ZeDriver> const& LevelZeroDriver::drivers() noexcept {
    static std::vector<ZeDriver> const none;
    if (is_known_.load(std::memory_order_acquire)) return drivers_;
    std::lock_guard const lock(mutex_);
    if (drivers_.empty()) look_for_drivers();
    if (drivers_.empty()) return none;
    is_known_.store(true, std::memory_order_release);
    return drivers_;
}

void LevelZeroDriver::look_for_drivers() noexcept {
    std::uint32_t count = 0;
    if (ze_.drivers(&count, nullptr) != ze_success || count == 0) return;
    std::vector<void*> found(count);
    if (ze_.drivers(&count, found.data()) != ze_success) return;
    found.resize(std::min<std::size_t>(found.size(), count));
    for (void* const driver : found) {
        ZeDriver const known = with_context(driver);
        if (known.context) drivers_.push_back(known);
    }
}

ZeDriver LevelZeroDriver::with_context(void* driver) const noexcept {
    ZeDriver known{driver};
    if (ze_.default_context) known.context = ze_.default_context(driver);
    ZeContextDescription const wanted;
    if (!known.context && ze_.create_context &&
        ze_.create_context(driver, &wanted, &known.context) != ze_success)
        known.context = nullptr;
    void* import_pointer = nullptr;
    if (ze_.extension_function && ze_.extension_function(driver, "zexDriverImportExternalPointer",
                                                         &import_pointer) == ze_success)
        known.import_pointer = reinterpret_cast<decltype(known.import_pointer)>(import_pointer);
    return known;
}

GpuPlace LevelZeroDriver::where(Offset address) noexcept {
    auto const* const memory = reinterpret_cast<void const*>(address);
    for (ZeDriver const& driver : drivers()) {
        ZeAllocationProperties said;
        void* device = nullptr;
        int const code = ze_.allocation_properties(driver.context, memory, &said, &device);
        if (code != ze_success || said.type == ZeMemory::unknown) continue;
        GpuPlace place;
        if (said.type == ZeMemory::shared) place.kind = GpuPlace::Kind::managed;
        if (said.type != ZeMemory::device) return place;
        place.kind = GpuPlace::Kind::device;
        place.context = {handle_of(driver.context), handle_of(device)};
        void* begin = nullptr;
        std::size_t bytes = 0;
        if (ze_.allocation_range &&
            ze_.allocation_range(driver.context, memory, &begin, &bytes) == ze_success) {
            auto const first = reinterpret_cast<Offset>(begin);
            place.allocation = {first, first + static_cast<Bytes>(bytes)};
        }
        return place;
    }
    return {};
}

GpuResult LevelZeroDriver::make_event(GpuContext context, GpuEvent& event) {
    auto made = std::make_unique<ZeEvent>();
    ZeEventPoolDescription const pool;
    if (int const code =
            ze_.create_event_pool(pointer_of(context.context), &pool, 0, nullptr, &made->pool);
        code != ze_success)
        return {"zeEventPoolCreate", code};
    ZeEventDescription const wanted;
    int const code = ze_.create_event(made->pool, &wanted, &made->event);
    if (code == ze_success)
        event = made.release();
    else
        ze_.destroy_event_pool(made->pool);
    return {"zeEventCreate", code};
}

GpuResult LevelZeroDriver::copy(GpuContext, GpuStream stream, Direction, Rows const& row) {
    auto* const target = reinterpret_cast<void*>(row.target);
    auto const* const source = reinterpret_cast<void const*>(row.source);
    if (row.count == 1) {
        return {"zeCommandListAppendMemoryCopy",
                ze_.append_copy(stream, target, source, static_cast<std::size_t>(row.length),
                                nullptr, 0, nullptr)};
    }
    // Its numbers have 32 bits: lengths and strides are within `longest_pitch`, counts need not be.
    for (Rows left = row; left.count > 0;) {
        std::int64_t const now = std::min<std::int64_t>(left.count, longest_pitch);
        ZeRegion const region{.width = static_cast<std::uint32_t>(row.length),
                              .height = static_cast<std::uint32_t>(now),
                              .depth = 1};
        int const code = ze_.append_copy_region(
            stream, reinterpret_cast<void*>(left.target), &region,
            static_cast<std::uint32_t>(row.target_stride), 0,
            reinterpret_cast<void const*>(left.source), &region,
            static_cast<std::uint32_t>(row.source_stride), 0, nullptr, 0, nullptr);
        if (code != ze_success) return {"zeCommandListAppendMemoryCopyRegion", code};
        left.target += now * row.target_stride;
        left.source += now * row.source_stride;
        left.count -= now;
    }
    return {};
}

/// Its own wait keeps a core busy, so it is asked again and again.
GpuResult LevelZeroDriver::synchronize(GpuContext context, GpuEvent event) {
    constexpr std::chrono::microseconds longest{1000};
    for (std::chrono::microseconds pause{20};; pause = std::min(2 * pause, longest)) {
        bool is_past = false;
        GpuResult const result = query(context, event, is_past);
        if (is_past || result.failed()) return result;
        std::this_thread::sleep_for(pause);
    }
}

GpuResult LevelZeroDriver::register_host(GpuContext context, std::span<std::byte> pages) {
    constexpr char const* function = "zexDriverImportExternalPointer";
    for (ZeDriver const& driver : drivers()) {
        if (handle_of(driver.context) != context.context || !driver.import_pointer) continue;
        return {function, driver.import_pointer(driver.driver, pages.data(), pages.size())};
    }
    return {function, ze_unsupported_feature};
}

}  // namespace

std::unique_ptr<GpuDriver> find_level_zero_driver(std::vector<std::string> const& paths) {
    auto const library = LoadedLibrary::find(paths, "libze_loader.so", "zeMemGetAllocProperties");
    if (!library.is_found() || !LevelZeroFunctions(library).can_tell()) return nullptr;
    return std::make_unique<LevelZeroDriver>(library);
}

}  // namespace sluice
