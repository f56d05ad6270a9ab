// The driver of AMD's GPUs: HIP's runtime. Users: gpus.cpp.
#pragma once
#include "gpu/gpu_driver.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Null where none of the process's libraries, whose paths these are, is the runtime. Any thread.
[[nodiscard]] std::unique_ptr<GpuDriver> find_hip_driver(std::vector<std::string> const& paths);

}  // namespace sluice
