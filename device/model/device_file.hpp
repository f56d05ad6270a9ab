// Profiles of devices by name, or from a file.
#pragma once
#include "device/model/device.hpp"

namespace sluice {

/// hdd, ssd, nvm, or the path of a description; `error` says why there is none.
[[nodiscard]] std::optional<DeviceProfile> find_device(std::string const& name_or_path,
                                                       std::string& error);

}  // namespace sluice
