// The GPU of a rank, by the driver of CUDA. The driver is opened when a Gpu is made, as CUDA's
// runtime does it: nothing of CUDA is needed to build this, or to run it without a GPU.
#pragma once
#include "gpu/cuda_functions.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace sluice::bench {

/// What Gpu calls beside the functions that the library uses.
struct MoreCudaFunctions {
    int (*start)(unsigned) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_name)(char*, int, int) = nullptr;
    int (*allocate)(CudaAddress*, std::size_t) = nullptr;
    int (*free)(CudaAddress) = nullptr;
    int (*allocate_pinned)(void**, std::size_t) = nullptr;
    int (*free_pinned)(void*) = nullptr;
    int (*unregister_host)(void*) = nullptr;
    int (*copy_to_host_now)(void*, CudaAddress, std::size_t) = nullptr;
    int (*copy_to_device_now)(CudaAddress, void const*, std::size_t) = nullptr;

    explicit MoreCudaFunctions(LoadedLibrary const& driver) noexcept;
    [[nodiscard]] bool are_all_there() const noexcept;
};

/// What fails in its functions ends the job with the driver's words, but in the constructor.
class Gpu {
public:
    /// Memory that the driver gave, words of it.
    using Words = std::unique_ptr<double, std::function<void(double*)>>;

    /// That of the rank with this number on its node: ranks take the GPUs in turn. Its context is
    /// current for the calling thread from then on. Throws std::runtime_error that says why there
    /// is none.
    explicit Gpu(int rank_of_node);
    Gpu(Gpu const&) = delete;
    Gpu& operator=(Gpu const&) = delete;

    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    [[nodiscard]] Words device_words(std::size_t count) const;
    [[nodiscard]] Words pinned_words(std::size_t count) const;
    /// Pins memory of the host while the result lives.
    [[nodiscard]] Words registered(std::span<double> words) const;

    // As a program copies by hand; done when they return.
    void to_host(std::span<double> host, double const* device) const;
    void to_device(double* device, std::span<double const> host) const;
    // One copy in a stream of its own; done when they return. The host's memory is pinned.
    void to_pinned(std::span<double> host, double const* device) const;
    void from_pinned(double* device, std::span<double const> host) const;

    /// A function of a program for the GPU, which is given as PTX text.
    [[nodiscard]] void* kernel(char const* text, char const* name) const;
    /// With parameters of 64 bits; done when it returns, and asleep until then.
    void run(void* kernel, unsigned blocks, unsigned threads, void** parameters) const;

private:
    Gpu(int rank_of_node, LoadedLibrary const& driver);
    void enter(int ordinal);
    void wait() const;
    /// A failed call in words.
    [[nodiscard]] std::string failure(int code, char const* what) const;
    void demand(int code, char const* what) const;   ///< Throws where a call has failed.
    void require(int code, char const* what) const;  ///< Ends the job there.

    CudaFunctions cuda_;
    MoreCudaFunctions more_;
    std::string name_;
    void *stream_ = nullptr, *event_ = nullptr;
};

/// Collective. This rank's GPU; null on all ranks, and why, where one of them has none.
[[nodiscard]] std::unique_ptr<Gpu> gpu_of_rank(std::string& why);

}  // namespace sluice::bench
