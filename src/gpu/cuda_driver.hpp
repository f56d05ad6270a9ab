// The driver of NVIDIA's GPUs. Users: gpus.cpp.
#pragma once
#include "gpu/gpu_driver.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Null where none of the process's libraries, whose paths these are, is the driver. Any thread.
[[nodiscard]] std::unique_ptr<GpuDriver> find_cuda_driver(std::vector<std::string> const& paths);

}  // namespace sluice
