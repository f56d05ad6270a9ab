// The driver of Intel's GPUs: Level Zero's loader. Users: gpus.cpp.
#pragma once
#include "gpu/gpu_driver.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Null where none of the process's libraries, whose paths these are, is the loader, or it cannot
/// say where an address lies. Any thread.
[[nodiscard]] std::unique_ptr<GpuDriver>
find_level_zero_driver(std::vector<std::string> const& paths);

}  // namespace sluice
