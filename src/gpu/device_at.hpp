// What is known of an address. Users: driver_devices.hpp, mixed_memory.hpp, gpus.hpp.
#pragma once
#include "schedule/port.hpp"

namespace sluice {

struct DeviceAt {
    Device* device = nullptr;  ///< Null: the processor reaches the address.
    Span allocation;           ///< Around it, of a device's; empty where its driver does not say.
};

}  // namespace sluice
