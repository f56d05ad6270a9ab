// What is used of Level Zero, with the types of its binary interface. Users: level_zero_driver.cpp.
#pragma once
#include "gpu/loaded_library.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

inline constexpr int ze_success = 0, ze_not_ready = 1, ze_device_lost = 0x70000001,
                     ze_out_of_host_memory = 0x70000002, ze_out_of_device_memory = 0x70000003,
                     ze_uninitialized = 0x78000001, ze_unsupported_feature = 0x78000003,
                     ze_invalid_argument = 0x78000004, ze_invalid_null_pointer = 0x78000007,
                     ze_invalid_size = 0x78000008;

enum class ZeStructure : int {
    context = 0xd,
    command_queue = 0xe,
    event_pool = 0x10,
    event = 0x11,
    allocation_properties = 0x17,
};
enum class ZeMemory : int { unknown = 0, host = 1, device = 2, shared = 3 };

struct ZeContextDescription {
    ZeStructure structure = ZeStructure::context;
    void const* next = nullptr;
    std::uint32_t flags = 0;
};
struct ZeQueueDescription {
    ZeStructure structure = ZeStructure::command_queue;
    void const* next = nullptr;
    std::uint32_t ordinal = 0, index = 0, flags = 0;
    int mode = 2;  ///< Asynchronous.
    int priority = 0;
};
struct ZeEventPoolDescription {
    ZeStructure structure = ZeStructure::event_pool;
    void const* next = nullptr;
    std::uint32_t flags = 1;  ///< Visible to the host.
    std::uint32_t count = 1;
};
struct ZeEventDescription {
    ZeStructure structure = ZeStructure::event;
    void const* next = nullptr;
    std::uint32_t index = 0;
    std::uint32_t signal = 4, wait = 4;  ///< Memory of the host is made visible.
};
struct ZeAllocationProperties {
    ZeStructure structure = ZeStructure::allocation_properties;
    void* next = nullptr;
    ZeMemory type = ZeMemory::unknown;
    std::uint64_t id = 0, page_bytes = 0;
};
struct ZeRegion {
    std::uint32_t x = 0, y = 0, z = 0, width = 0, height = 0, depth = 0;
};

/// Null is what the loader does not have.
struct LevelZeroFunctions {
    int (*drivers)(std::uint32_t*, void**) = nullptr;
    void* (*default_context)(void*) = nullptr;
    int (*create_context)(void*, ZeContextDescription const*, void**) = nullptr;
    int (*extension_function)(void*, char const*, void**) = nullptr;
    int (*allocation_properties)(void*, void const*, ZeAllocationProperties*, void**) = nullptr;
    int (*allocation_range)(void*, void const*, void**, std::size_t*) = nullptr;
    int (*create_list)(void*, void*, ZeQueueDescription const*, void**) = nullptr;
    int (*destroy_list)(void*) = nullptr;
    int (*append_copy)(void*, void*, void const*, std::size_t, void*, std::uint32_t,
                       void**) = nullptr;
    int (*append_copy_region)(void*, void*, ZeRegion const*, std::uint32_t, std::uint32_t,
                              void const*, ZeRegion const*, std::uint32_t, std::uint32_t, void*,
                              std::uint32_t, void**) = nullptr;
    int (*append_barrier)(void*, void*, std::uint32_t, void**) = nullptr;
    int (*create_event_pool)(void*, ZeEventPoolDescription const*, std::uint32_t, void**,
                             void**) = nullptr;
    int (*destroy_event_pool)(void*) = nullptr;
    int (*create_event)(void*, ZeEventDescription const*, void**) = nullptr;
    int (*destroy_event)(void*) = nullptr;
    int (*reset_event)(void*) = nullptr;
    int (*query_event)(void*) = nullptr;

    explicit LevelZeroFunctions(LoadedLibrary const& loader) noexcept {
        loader.look_up("zeDriverGet", drivers);
        loader.look_up("zeDriverGetDefaultContext", default_context);
        loader.look_up("zeContextCreate", create_context);
        loader.look_up("zeDriverGetExtensionFunctionAddress", extension_function);
        loader.look_up("zeMemGetAllocProperties", allocation_properties);
        loader.look_up("zeMemGetAddressRange", allocation_range);
        loader.look_up("zeCommandListCreateImmediate", create_list);
        loader.look_up("zeCommandListDestroy", destroy_list);
        loader.look_up("zeCommandListAppendMemoryCopy", append_copy);
        loader.look_up("zeCommandListAppendMemoryCopyRegion", append_copy_region);
        loader.look_up("zeCommandListAppendBarrier", append_barrier);
        loader.look_up("zeEventPoolCreate", create_event_pool);
        loader.look_up("zeEventPoolDestroy", destroy_event_pool);
        loader.look_up("zeEventCreate", create_event);
        loader.look_up("zeEventDestroy", destroy_event);
        loader.look_up("zeEventHostReset", reset_event);
        loader.look_up("zeEventQueryStatus", query_event);
    }
    /// Whether it can be asked about an address.
    [[nodiscard]] bool can_tell() const noexcept { return drivers && allocation_properties; }
    /// Whether copies are possible.
    [[nodiscard]] bool can_copy() const noexcept {
        return create_list && destroy_list && append_copy && append_copy_region && append_barrier &&
               create_event_pool && destroy_event_pool && create_event && destroy_event &&
               reset_event && query_event;
    }
};

}  // namespace sluice
