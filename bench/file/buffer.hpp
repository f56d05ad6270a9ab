// User memory of an access: on the host, or on the rank's GPU. Contents are made and checked on the
// host in either case.
#pragma once
#include <span>

#include "bench/file/page_memory.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/measure/bench.hpp"

namespace sluice::bench {

class Buffer {
public:
    /// Where the options say.
    Buffer(Run const& run, std::size_t words) : host_(words) {
        if (!run.on_device()) return;
        gpu_ = run.gpu;
        device_ = gpu_->device_words(words);
    }

    /// What calls are given.
    [[nodiscard]] std::span<double> memory() {
        return gpu_ ? std::span(device_.get(), host().size()) : host();
    }
    /// Where contents are made and checked; the memory itself where that is the host's.
    [[nodiscard]] std::span<double> host() { return host_.words(); }

    /// What was made on the host is in the memory.
    void bring_to_memory() {
        if (gpu_) gpu_->to_device(device_.get(), host());
    }
    /// What is in the memory can be checked on the host.
    void bring_to_host() {
        if (gpu_) gpu_->to_host(host(), device_.get());
    }

private:
    PageMemory host_;
    Gpu const* gpu_ = nullptr;  ///< Null: the memory is the host's.
    Gpu::Words device_;
};

}  // namespace sluice::bench
