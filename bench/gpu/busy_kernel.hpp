// Computation of a known amount that keeps the GPU busy: like bench/measure/work.hpp on a GPU.
#pragma once
#include "bench/gpu/gpu.hpp"

#include <cstdint>

namespace sluice::bench {

class BusyKernel {
public:
    explicit BusyKernel(Gpu const& gpu);

    /// Returns when the GPU has done it.
    void run(std::uint64_t iterations) const;

private:
    Gpu const& gpu_;
    void* kernel_;
    Gpu::Words nowhere_;  ///< Where a result would go that never comes.
};

}  // namespace sluice::bench
