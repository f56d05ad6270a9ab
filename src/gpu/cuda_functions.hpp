// What is used of CUDA's driver, with the types of its binary interface. Users: cuda_driver.cpp.
#pragma once
#include "gpu/loaded_library.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

using CudaAddress = unsigned long long;
/// Handles are pointers, and so are numbers of devices that are not.
using CudaContext = void*;

enum class CudaPointerAttribute : int {
    context = 1,
    memory_type = 2,
    is_managed = 8,
    device_ordinal = 9,
    range_begin = 11,
    range_bytes = 12,
};
enum class CudaMemoryType : unsigned { host = 1, device = 2 };

inline constexpr int cuda_success = 0, cuda_invalid_value = 1, cuda_out_of_memory = 2,
                     cuda_not_initialized = 3, cuda_invalid_context = 201, cuda_not_ready = 600,
                     cuda_illegal_address = 700, cuda_misaligned = 716, cuda_not_supported = 801;
inline constexpr unsigned cuda_stream_non_blocking = 1, cuda_event_blocking_sync = 1,
                          cuda_event_disable_timing = 2, cuda_register_portable = 1,
                          cuda_register_device_map = 2;
inline constexpr int cuda_device_uses_host_pointers = 91;  ///< An attribute: of registered memory.
inline constexpr int cuda_capture_relaxed = 2;
inline constexpr std::uintptr_t cuda_last_default_stream = 2;  ///< Null, legacy, of each thread.

/// Of a copy of rows; the fields of arrays stay zero.
struct CudaCopy2d {
    struct Side {
        std::size_t x_bytes = 0, y = 0;
        CudaMemoryType type = CudaMemoryType::host;
        void const* host = nullptr;
        CudaAddress device = 0;
        void* array = nullptr;
        std::size_t pitch = 0;
    };
    Side source, target;
    std::size_t width_bytes = 0, height = 0;
};

/// Null is what the driver does not have.
struct CudaFunctions {
    int (*pointer_attribute)(void*, CudaPointerAttribute, CudaAddress) = nullptr;
    int (*error_name)(int, char const**) = nullptr;
    int (*device_of_ordinal)(int*, int) = nullptr;
    int (*device_attribute)(int*, int, int) = nullptr;
    int (*retain_primary)(CudaContext*, int) = nullptr;
    int (*push_context)(CudaContext) = nullptr;
    int (*pop_context)(CudaContext*) = nullptr;
    int (*context_device)(int*) = nullptr;
    int (*exchange_capture_mode)(int*) = nullptr;
    int (*create_stream)(void**, unsigned) = nullptr;
    int (*create_urgent_stream)(void**, unsigned, int) = nullptr;
    int (*priority_range)(int*, int*) = nullptr;
    int (*destroy_stream)(void*) = nullptr;
    int (*stream_context)(void*, CudaContext*) = nullptr;
    int (*create_event)(void**, unsigned) = nullptr;
    int (*destroy_event)(void*) = nullptr;
    int (*record_event)(void*, void*) = nullptr;
    int (*query_event)(void*) = nullptr;
    int (*synchronize_event)(void*) = nullptr;
    int (*copy_to_host)(void*, CudaAddress, std::size_t, void*) = nullptr;
    int (*copy_to_device)(CudaAddress, void const*, std::size_t, void*) = nullptr;
    int (*copy_2d)(CudaCopy2d const*, void*) = nullptr;
    int (*register_host)(void*, std::size_t, unsigned) = nullptr;
    int (*load_module)(void**, void const*) = nullptr;
    int (*module_function)(void**, void*, char const*) = nullptr;
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void*, void**, void**) = nullptr;

    /// Names end with the version of the binary interface, which the functions have had since
    /// CUDA 4.0.
    explicit CudaFunctions(LoadedLibrary const& driver) noexcept {
        driver.look_up("cuPointerGetAttribute", pointer_attribute);
        driver.look_up("cuGetErrorName", error_name);
        driver.look_up("cuDeviceGet", device_of_ordinal);
        driver.look_up("cuDeviceGetAttribute", device_attribute);
        driver.look_up("cuDevicePrimaryCtxRetain", retain_primary);
        driver.look_up("cuCtxPushCurrent_v2", push_context);
        driver.look_up("cuCtxPopCurrent_v2", pop_context);
        driver.look_up("cuCtxGetDevice", context_device);
        driver.look_up("cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
        driver.look_up("cuStreamCreate", create_stream);
        driver.look_up("cuStreamCreateWithPriority", create_urgent_stream);
        driver.look_up("cuCtxGetStreamPriorityRange", priority_range);
        driver.look_up("cuStreamDestroy_v2", destroy_stream);
        driver.look_up("cuStreamGetCtx", stream_context);
        driver.look_up("cuEventCreate", create_event);
        driver.look_up("cuEventDestroy_v2", destroy_event);
        driver.look_up("cuEventRecord", record_event);
        driver.look_up("cuEventQuery", query_event);
        driver.look_up("cuEventSynchronize", synchronize_event);
        driver.look_up("cuMemcpyDtoHAsync_v2", copy_to_host);
        driver.look_up("cuMemcpyHtoDAsync_v2", copy_to_device);
        driver.look_up("cuMemcpy2DAsync_v2", copy_2d);
        if (!driver.look_up("cuMemHostRegister_v2", register_host))
            driver.look_up("cuMemHostRegister", register_host);
        driver.look_up("cuModuleLoadData", load_module);
        driver.look_up("cuModuleGetFunction", module_function);
        driver.look_up("cuLaunchKernel", launch);
    }
    /// Whether copies are possible.
    [[nodiscard]] bool can_copy() const noexcept {
        return push_context && pop_context && create_stream && destroy_stream && create_event &&
               destroy_event && record_event && query_event && synchronize_event && copy_to_host &&
               copy_to_device && copy_2d && register_host;
    }
    [[nodiscard]] bool can_launch() const noexcept {
        return device_attribute && context_device && load_module && module_function && launch;
    }
};

}  // namespace sluice
