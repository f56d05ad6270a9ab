// Any thread of the library calls, with no context of its own, so each call is made inside the
// context that the memory belongs to. See cuda_driver.hpp.
//
// A copy of many short rows costs a call each, some microseconds, and pieces of lists are no rows
// for the driver at all: these are copied by a program of the GPU (row_kernel_ptx.hpp), which
// reaches registered memory of the host.
#include "gpu/cuda_driver.hpp"

#include "gpu/cuda_functions.hpp"
#include "gpu/row_kernel_ptx.hpp"
#include "system/readable.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

namespace sluice {
namespace {

CudaContext cuda_context(GpuContext context) noexcept {
    return reinterpret_cast<CudaContext>(context.context);
}

/// Is inside a context. The program may be recording a graph of calls, in any thread, which forbids
/// calls that it does not record; ours are none of the graph's business.
class InCudaContext {
public:
    InCudaContext(CudaFunctions const& functions, GpuContext context) noexcept
        : functions_(functions),
          code_(context.context ? functions.push_context(cuda_context(context))
                                : cuda_invalid_context) {
        if (code_ == cuda_success) exchange();
    }
    ~InCudaContext() {
        if (code_ != cuda_success) return;
        exchange();
        CudaContext left = nullptr;
        functions_.pop_context(&left);
    }
    InCudaContext(InCudaContext const&) = delete;
    InCudaContext& operator=(InCudaContext const&) = delete;

    /// What the call returns, or why it cannot be made.
    template <class Call> GpuResult call(char const* function, Call&& call) const {
        if (code_ != cuda_success) return {"cuCtxPushCurrent", code_};
        return {function, call()};
    }

private:
    void exchange() noexcept {
        if (functions_.exchange_capture_mode) functions_.exchange_capture_mode(&mode_);
    }

    CudaFunctions const& functions_;
    int code_;
    int mode_ = cuda_capture_relaxed;
};

/// How the program's threads share rows and pieces.
struct RowKernelShape {
    unsigned blocks_x = 1, blocks_y = 1, warps_y = 1, warps_z = 1;
};

/// Some thousand warps are enough for a bus whose answers take microseconds, and leave the rest of
/// the GPU to the program.
RowKernelShape shape_of(std::span<Rows const> rows) noexcept {
    constexpr std::int64_t warps = 8, most_blocks = 512;
    auto const count = static_cast<std::int64_t>(rows.size());
    std::int64_t pieces = 0;
    for (Rows const& row : rows) pieces += row.count;
    std::int64_t const warps_y = count >= warps ? warps : count >= 4 ? 4 : count >= 2 ? 2 : 1;
    std::int64_t const warps_z = warps / warps_y;
    std::int64_t const pieces_each = (pieces + count - 1) / count;
    auto const x = std::clamp<std::int64_t>((pieces_each + warps_z - 1) / warps_z, 1, most_blocks);
    auto const y = std::clamp<std::int64_t>((count + warps_y - 1) / warps_y, 1, most_blocks / x);
    return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(warps_y),
            static_cast<unsigned>(warps_z)};
}

class CudaDriver final : public GpuDriver {
public:
    explicit CudaDriver(LoadedLibrary const& library) noexcept : cuda_(library) {}

    GpuPlace where(Offset address) noexcept override {
        GpuPlace place;
        if (!is_device(address)) return place;
        int managed = 0;
        ask(CudaPointerAttribute::is_managed, address, managed);
        place.kind = managed == 1 ? GpuPlace::Kind::managed : GpuPlace::Kind::device;
        if (managed == 1) return place;
        place.context = context_of(address);
        place.allocation = allocation_of(address);
        return place;
    }
    [[nodiscard]] char const* cannot_copy() const noexcept override {
        return cuda_.can_copy() ? nullptr
                                : "the buffer lies on a GPU, and this CUDA driver lacks functions "
                                  "that copy from there: copy it to memory of the host first";
    }
    [[nodiscard]] Error error_of(GpuResult failed) const override;

    GpuResult make_stream(GpuContext context, GpuStream& stream) override;
    void destroy_stream(GpuContext context, GpuStream stream) noexcept override {
        in(context, "cuStreamDestroy", [&] { return cuda_.destroy_stream(stream); });
    }
    GpuResult make_event(GpuContext context, GpuEvent& event) override {
        constexpr unsigned flags = cuda_event_blocking_sync | cuda_event_disable_timing;
        return in(context, "cuEventCreate", [&] { return cuda_.create_event(&event, flags); });
    }
    void destroy_event(GpuContext context, GpuEvent event) noexcept override {
        in(context, "cuEventDestroy", [&] { return cuda_.destroy_event(event); });
    }

    GpuResult copy(GpuContext context, GpuStream stream, Direction way, Rows const& row) override;
    bool has_row_kernel(GpuContext context) override { return row_kernel(context) != nullptr; }
    GpuResult copy_rows(GpuContext context, GpuStream stream, std::span<Rows const> rows) override;

    GpuResult record(GpuContext context, GpuStream stream, GpuEvent event) override {
        return in(context, "cuEventRecord", [&] { return cuda_.record_event(event, stream); });
    }
    GpuResult query(GpuContext context, GpuEvent event, bool& is_past) override {
        GpuResult const result =
            in(context, "cuEventQuery", [&] { return cuda_.query_event(event); });
        is_past = result.code == cuda_success;
        return result.code == cuda_not_ready ? GpuResult{} : result;
    }
    GpuResult synchronize(GpuContext context, GpuEvent event) override {
        return in(context, "cuEventSynchronize", [&] { return cuda_.synchronize_event(event); });
    }
    GpuResult context_of(GpuStream stream, GpuContext& context) override;
    GpuResult register_host(GpuContext context, std::span<std::byte> pages) override {
        constexpr unsigned flags = cuda_register_portable | cuda_register_device_map;
        return in(context, "cuMemHostRegister",
                  [&] { return cuda_.register_host(pages.data(), pages.size(), flags); });
    }

private:
    template <class Call>
    GpuResult in(GpuContext context, char const* function, Call&& call) const {
        return InCudaContext(cuda_, context).call(function, call);
    }
    template <class Value>
    bool ask(CudaPointerAttribute what, Offset address, Value& value) const noexcept {
        return cuda_.pointer_attribute(&value, what, static_cast<CudaAddress>(address)) ==
               cuda_success;
    }
    bool is_device(Offset address) const noexcept;
    GpuContext context_of(Offset address) noexcept;
    CudaContext primary_context(int ordinal) noexcept;
    Span allocation_of(Offset address) const noexcept;
    void* row_kernel(GpuContext context);
    void* load_row_kernel(GpuContext context) const;

    CudaFunctions const cuda_;
    std::mutex mutex_;                             ///< Of the two below.
    std::map<int, CudaContext> primary_;           ///< By number of the device.
    std::map<std::uintptr_t, void*> row_kernels_;  ///< By context; null: it has none.
};

/// Where the driver has no answer, since a context was lost, a buffer on the host must still be
/// written, and one on a device may not be touched: what the processor does not reach is a
/// device's, of no context, so that its copies fail.
bool CudaDriver::is_device(Offset address) const noexcept {
    auto type = CudaMemoryType::host;
    int const code = cuda_.pointer_attribute(&type, CudaPointerAttribute::memory_type,
                                             static_cast<CudaAddress>(address));
    if (code == cuda_success) return type == CudaMemoryType::device;
    bool const has_answer = code == cuda_invalid_value || code == cuda_not_initialized;
    return !has_answer && !is_readable(reinterpret_cast<void const*>(address));
}

/// Memory from a stream's pool has no context: any that can reach it will do.
GpuContext CudaDriver::context_of(Offset address) noexcept {
    CudaContext context = nullptr;
    ask(CudaPointerAttribute::context, address, context);
    int ordinal = 0;
    if (!context && ask(CudaPointerAttribute::device_ordinal, address, ordinal))
        context = primary_context(ordinal);
    return {reinterpret_cast<std::uintptr_t>(context), 0};
}

/// A default stream in a thread that has no context yet is that of the first device, as CUDA's
/// runtime has it.
GpuResult CudaDriver::context_of(GpuStream stream, GpuContext& context) {
    CudaContext found = nullptr;
    int code = cuda_.stream_context ? cuda_.stream_context(stream, &found) : cuda_not_supported;
    bool const is_default = reinterpret_cast<std::uintptr_t>(stream) <= cuda_last_default_stream;
    if (code == cuda_invalid_context && is_default) {
        found = primary_context(0);
        if (found) code = cuda_success;
    }
    context = {reinterpret_cast<std::uintptr_t>(found), 0};
    return {"cuStreamGetCtx", code};
}

/// It is held for good: what it was made for would be lost with it.
CudaContext CudaDriver::primary_context(int ordinal) noexcept {
    std::lock_guard const lock(mutex_);
    auto const known = primary_.find(ordinal);
    if (known != primary_.end()) return known->second;
    int device = 0;
    CudaContext context = nullptr;
    if (!cuda_.device_of_ordinal || !cuda_.retain_primary) return nullptr;
    if (cuda_.device_of_ordinal(&device, ordinal) != cuda_success) return nullptr;
    if (cuda_.retain_primary(&context, device) != cuda_success) return nullptr;
    primary_.emplace(ordinal, context);
    return context;
}

Span CudaDriver::allocation_of(Offset address) const noexcept {
    CudaAddress begin = 0;
    std::size_t bytes = 0;
    if (!ask(CudaPointerAttribute::range_begin, address, begin)) return {};
    if (!ask(CudaPointerAttribute::range_bytes, address, bytes)) return {};
    auto const first = static_cast<Offset>(begin);
    return {first, first + static_cast<Bytes>(bytes)};
}

Error CudaDriver::error_of(GpuResult failed) const {
    char const* name = nullptr;
    if (cuda_.error_name && cuda_.error_name(failed.code, &name) != cuda_success) name = nullptr;
    switch (failed.code) {
    case cuda_out_of_memory:
        return gpu_error(Status::no_memory, failed, name);
    case cuda_invalid_value:
    case cuda_illegal_address:
    case cuda_misaligned:
        return gpu_error(Status::buffer, failed, name);
    default:
        return gpu_error(Status::other, failed, name);
    }
}

/// The kernel for rows runs beside the program's, and goes first where these fill the GPU: it is
/// short, and a bus is all that it needs.
GpuResult CudaDriver::make_stream(GpuContext context, GpuStream& stream) {
    constexpr unsigned flags = cuda_stream_non_blocking;
    return in(context, "cuStreamCreate", [&] {
        int least = 0, greatest = 0;
        bool const has_priorities = cuda_.priority_range && cuda_.create_urgent_stream &&
                                    cuda_.priority_range(&least, &greatest) == cuda_success;
        return has_priorities ? cuda_.create_urgent_stream(&stream, flags, greatest)
                              : cuda_.create_stream(&stream, flags);
    });
}

CudaCopy2d::Side cuda_side(bool is_host, Offset address, Offset pitch) noexcept {
    CudaCopy2d::Side side;
    side.type = is_host ? CudaMemoryType::host : CudaMemoryType::device;
    if (is_host)
        side.host = reinterpret_cast<void const*>(address);
    else
        side.device = static_cast<CudaAddress>(address);
    side.pitch = static_cast<std::size_t>(pitch);
    return side;
}

GpuResult CudaDriver::copy(GpuContext context, GpuStream stream, Direction way, Rows const& row) {
    bool const to_host = way == Direction::write;
    auto const length = static_cast<std::size_t>(row.length);
    auto const source = static_cast<CudaAddress>(row.source);
    auto const target = static_cast<CudaAddress>(row.target);
    if (row.count == 1 && to_host) {
        auto* const host = reinterpret_cast<void*>(row.target);
        return in(context, "cuMemcpyDtoHAsync",
                  [&] { return cuda_.copy_to_host(host, source, length, stream); });
    }
    if (row.count == 1) {
        auto const* const host = reinterpret_cast<void const*>(row.source);
        return in(context, "cuMemcpyHtoDAsync",
                  [&] { return cuda_.copy_to_device(target, host, length, stream); });
    }
    CudaCopy2d const copy{cuda_side(!to_host, row.source, row.source_stride),
                          cuda_side(to_host, row.target, row.target_stride), length,
                          static_cast<std::size_t>(row.count)};
    return in(context, "cuMemcpy2DAsync", [&] { return cuda_.copy_2d(&copy, stream); });
}

void* CudaDriver::row_kernel(GpuContext context) {
    std::lock_guard const lock(mutex_);
    auto const known = row_kernels_.find(context.context);
    if (known != row_kernels_.end()) return known->second;
    void* const kernel = cuda_.can_launch() ? load_row_kernel(context) : nullptr;
    row_kernels_.emplace(context.context, kernel);
    return kernel;
}

/// Null where the GPU is too old for it, cannot reach the host's memory by the host's addresses, or
/// the driver has no compiler.
void* CudaDriver::load_row_kernel(GpuContext context) const {
    void* kernel = nullptr;
    in(context, "cuModuleLoadData", [&] {
        int device = 0, has_host_pointers = 0;
        int code = cuda_.context_device(&device);
        if (code != cuda_success) return code;
        code = cuda_.device_attribute(&has_host_pointers, cuda_device_uses_host_pointers, device);
        if (code != cuda_success || has_host_pointers == 0) return code;
        void* module = nullptr;
        code = cuda_.load_module(&module, row_kernel_ptx);
        if (code != cuda_success) return code;
        void* function = nullptr;
        code = cuda_.module_function(&function, module, row_kernel_name);
        if (code == cuda_success) kernel = function;
        return code;
    });
    return kernel;
}

GpuResult CudaDriver::copy_rows(GpuContext context, GpuStream stream, std::span<Rows const> rows) {
    void* const kernel = row_kernel(context);
    auto const shape = shape_of(rows);
    std::uint64_t table = reinterpret_cast<std::uint64_t>(rows.data());
    std::uint64_t count = rows.size();
    std::array<void*, 2> parameters{&table, &count};
    return in(context, "cuLaunchKernel", [&] {
        return cuda_.launch(kernel, shape.blocks_x, shape.blocks_y, 1, 32, shape.warps_y,
                            shape.warps_z, 0, stream, parameters.data(), nullptr);
    });
}

}  // namespace

std::unique_ptr<GpuDriver> find_cuda_driver(std::vector<std::string> const& paths) {
    auto const library = LoadedLibrary::find(paths, "libcuda.so", "cuPointerGetAttribute");
    if (!library.is_found()) return nullptr;
    return std::make_unique<CudaDriver>(library);
}

}  // namespace sluice
