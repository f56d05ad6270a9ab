// HIP has a device for each thread in the place of a context: each call sets it, and gives the
// thread its own back. See hip_driver.hpp.
#include "gpu/hip_driver.hpp"

#include "gpu/loaded_library.hpp"

namespace sluice {
namespace {

enum class HipPointerAttribute : int {
    memory_type = 2,
    is_managed = 8,
    device_ordinal = 9,
    range_begin = 11,
    range_bytes = 12,
};
enum class HipCopy : int { to_device = 1, to_host = 2 };

constexpr int hip_success = 0, hip_invalid_value = 1, hip_out_of_memory = 2,
              hip_invalid_device_pointer = 17, hip_not_ready = 600, hip_illegal_address = 700;
constexpr unsigned hip_stream_non_blocking = 1, hip_event_blocking_sync = 1,
                   hip_event_disable_timing = 2, hip_register_portable = 1, hip_register_mapped = 2;
constexpr int hip_capture_relaxed = 2;

/// Null is what the runtime does not have.
struct HipFunctions {
    int (*version)(int*) = nullptr;
    int (*pointer_attribute)(void*, HipPointerAttribute, void*) = nullptr;
    char const* (*error_name)(int) = nullptr;
    int (*get_device)(int*) = nullptr;
    int (*set_device)(int) = nullptr;
    int (*exchange_capture_mode)(int*) = nullptr;
    int (*create_stream)(void**, unsigned) = nullptr;
    int (*destroy_stream)(void*) = nullptr;
    int (*stream_device)(void*, int*) = nullptr;
    int (*create_event)(void**, unsigned) = nullptr;
    int (*destroy_event)(void*) = nullptr;
    int (*record_event)(void*, void*) = nullptr;
    int (*query_event)(void*) = nullptr;
    int (*synchronize_event)(void*) = nullptr;
    int (*copy)(void*, void const*, std::size_t, HipCopy, void*) = nullptr;
    int (*copy_2d)(void*, std::size_t, void const*, std::size_t, std::size_t, std::size_t, HipCopy,
                   void*) = nullptr;
    int (*register_host)(void*, std::size_t, unsigned) = nullptr;

    explicit HipFunctions(LoadedLibrary const& runtime) noexcept {
        runtime.look_up("hipRuntimeGetVersion", version);
        runtime.look_up("hipPointerGetAttribute", pointer_attribute);
        runtime.look_up("hipGetErrorName", error_name);
        runtime.look_up("hipGetDevice", get_device);
        runtime.look_up("hipSetDevice", set_device);
        runtime.look_up("hipThreadExchangeStreamCaptureMode", exchange_capture_mode);
        runtime.look_up("hipStreamCreateWithFlags", create_stream);
        runtime.look_up("hipStreamDestroy", destroy_stream);
        runtime.look_up("hipStreamGetDevice", stream_device);
        runtime.look_up("hipEventCreateWithFlags", create_event);
        runtime.look_up("hipEventDestroy", destroy_event);
        runtime.look_up("hipEventRecord", record_event);
        runtime.look_up("hipEventQuery", query_event);
        runtime.look_up("hipEventSynchronize", synchronize_event);
        runtime.look_up("hipMemcpyAsync", copy);
        runtime.look_up("hipMemcpy2DAsync", copy_2d);
        runtime.look_up("hipHostRegister", register_host);
    }
    /// Whether copies are possible.
    [[nodiscard]] bool can_copy() const noexcept {
        return get_device && set_device && create_stream && destroy_stream && create_event &&
               destroy_event && record_event && query_event && synchronize_event && copy &&
               copy_2d && register_host;
    }
};

/// The calling thread's device is another one. The program may be recording a graph of calls, in
/// any thread, which forbids calls that it does not record; ours are none of the graph's business.
class OnHipDevice {
public:
    OnHipDevice(HipFunctions const& functions, GpuContext context) noexcept
        : functions_(functions),
          wanted_(static_cast<int>(context.device)) {
        code_ = functions.get_device(&before_);
        if (code_ == hip_success && before_ != wanted_) code_ = functions.set_device(wanted_);
        exchange();
    }
    ~OnHipDevice() {
        exchange();
        if (code_ == hip_success && before_ != wanted_) functions_.set_device(before_);
    }
    OnHipDevice(OnHipDevice const&) = delete;
    OnHipDevice& operator=(OnHipDevice const&) = delete;

    /// What the call returns, or why it cannot be made.
    template <class Call> GpuResult call(char const* function, Call&& call) const {
        if (code_ != hip_success) return {"hipSetDevice", code_};
        return {function, call()};
    }

private:
    void exchange() noexcept {
        if (functions_.exchange_capture_mode) functions_.exchange_capture_mode(&mode_);
    }

    HipFunctions const& functions_;
    int wanted_, before_ = 0, code_ = hip_success;
    int mode_ = hip_capture_relaxed;
};

/// HIP numbered kinds of memory in a way of its own before version 6.
unsigned hip_device_type(HipFunctions const& hip) noexcept {
    constexpr int six = 60'000'000;
    int found = six;
    return hip.version && hip.version(&found) == hip_success && found < six ? 1 : 2;
}

class HipDriver final : public GpuDriver {
public:
    explicit HipDriver(LoadedLibrary const& library) noexcept
        : hip_(library),
          device_type_(hip_device_type(hip_)) {}

    GpuPlace where(Offset address) noexcept override {
        GpuPlace place;
        unsigned type = ~0U;
        if (!ask(HipPointerAttribute::memory_type, address, type) || type != device_type_)
            return place;
        int managed = 0, ordinal = 0;
        ask(HipPointerAttribute::is_managed, address, managed);
        place.kind = managed == 1 ? GpuPlace::Kind::managed : GpuPlace::Kind::device;
        ask(HipPointerAttribute::device_ordinal, address, ordinal);
        place.context.device = static_cast<std::uintptr_t>(ordinal);
        place.allocation = allocation_of(address);
        return place;
    }
    [[nodiscard]] char const* cannot_copy() const noexcept override {
        return hip_.can_copy() ? nullptr
                               : "the buffer lies on a GPU, and this HIP runtime lacks functions "
                                 "that copy from there: copy it to memory of the host first";
    }
    [[nodiscard]] Error error_of(GpuResult failed) const override {
        return gpu_error(status_of(failed.code), failed,
                         hip_.error_name ? hip_.error_name(failed.code) : nullptr);
    }

    GpuResult make_stream(GpuContext context, GpuStream& stream) override {
        return on(context, "hipStreamCreateWithFlags",
                  [&] { return hip_.create_stream(&stream, hip_stream_non_blocking); });
    }
    void destroy_stream(GpuContext context, GpuStream stream) noexcept override {
        on(context, "hipStreamDestroy", [&] { return hip_.destroy_stream(stream); });
    }
    GpuResult make_event(GpuContext context, GpuEvent& event) override {
        constexpr unsigned flags = hip_event_blocking_sync | hip_event_disable_timing;
        return on(context, "hipEventCreateWithFlags",
                  [&] { return hip_.create_event(&event, flags); });
    }
    void destroy_event(GpuContext context, GpuEvent event) noexcept override {
        on(context, "hipEventDestroy", [&] { return hip_.destroy_event(event); });
    }

    GpuResult copy(GpuContext context, GpuStream stream, Direction way, Rows const& row) override;

    GpuResult record(GpuContext context, GpuStream stream, GpuEvent event) override {
        return on(context, "hipEventRecord", [&] { return hip_.record_event(event, stream); });
    }
    GpuResult query(GpuContext context, GpuEvent event, bool& is_past) override {
        GpuResult const result =
            on(context, "hipEventQuery", [&] { return hip_.query_event(event); });
        is_past = result.code == hip_success;
        return result.code == hip_not_ready ? GpuResult{} : result;
    }
    GpuResult synchronize(GpuContext context, GpuEvent event) override {
        return on(context, "hipEventSynchronize", [&] { return hip_.synchronize_event(event); });
    }
    /// Runtimes before 5.6 do not say it, and then it is the calling thread's device.
    GpuResult context_of(GpuStream stream, GpuContext& context) override {
        int ordinal = 0;
        bool const says = hip_.stream_device && stream;
        int const code = says ? hip_.stream_device(stream, &ordinal) : hip_.get_device(&ordinal);
        context.device = static_cast<std::uintptr_t>(ordinal);
        return {says ? "hipStreamGetDevice" : "hipGetDevice", code};
    }
    GpuResult register_host(GpuContext context, std::span<std::byte> pages) override {
        constexpr unsigned flags = hip_register_portable | hip_register_mapped;
        return on(context, "hipHostRegister",
                  [&] { return hip_.register_host(pages.data(), pages.size(), flags); });
    }

private:
    static Status status_of(int code) noexcept {
        switch (code) {
        case hip_out_of_memory:
            return Status::no_memory;
        case hip_invalid_value:
        case hip_invalid_device_pointer:
        case hip_illegal_address:
            return Status::buffer;
        default:
            return Status::other;
        }
    }
    template <class Call>
    GpuResult on(GpuContext context, char const* function, Call&& call) const {
        return OnHipDevice(hip_, context).call(function, call);
    }
    template <class Value>
    bool ask(HipPointerAttribute what, Offset address, Value& value) const noexcept {
        return hip_.pointer_attribute(&value, what, reinterpret_cast<void*>(address)) ==
               hip_success;
    }
    Span allocation_of(Offset address) const noexcept {
        void* begin = nullptr;
        std::size_t bytes = 0;
        if (!ask(HipPointerAttribute::range_begin, address, begin)) return {};
        if (!ask(HipPointerAttribute::range_bytes, address, bytes)) return {};
        auto const first = reinterpret_cast<Offset>(begin);
        return {first, first + static_cast<Bytes>(bytes)};
    }

    HipFunctions const hip_;
    unsigned const device_type_;
};

GpuResult HipDriver::copy(GpuContext context, GpuStream stream, Direction way, Rows const& row) {
    auto* const target = reinterpret_cast<void*>(row.target);
    auto const* const source = reinterpret_cast<void const*>(row.source);
    auto const length = static_cast<std::size_t>(row.length);
    HipCopy const kind = way == Direction::write ? HipCopy::to_host : HipCopy::to_device;
    if (row.count == 1) {
        return on(context, "hipMemcpyAsync",
                  [&] { return hip_.copy(target, source, length, kind, stream); });
    }
    return on(context, "hipMemcpy2DAsync", [&] {
        return hip_.copy_2d(target, static_cast<std::size_t>(row.target_stride), source,
                            static_cast<std::size_t>(row.source_stride), length,
                            static_cast<std::size_t>(row.count), kind, stream);
    });
}

}  // namespace

std::unique_ptr<GpuDriver> find_hip_driver(std::vector<std::string> const& paths) {
    auto const library = LoadedLibrary::find(paths, "libamdhip64.so", "hipPointerGetAttribute");
    if (!library.is_found()) return nullptr;
    return std::make_unique<HipDriver>(library);
}

}  // namespace sluice
