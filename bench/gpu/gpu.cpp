// The driver is opened for this program alone and stays loaded. See gpu.hpp.
#include "bench/gpu/gpu.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bench/measure/end_job.hpp"
#include "bench/measure/timing.hpp"

namespace sluice::bench {
namespace {

LoadedLibrary driver_library() {
    if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
        throw std::runtime_error(std::string("there is no driver of CUDA: ") + dlerror());
    return LoadedLibrary::find(loaded_library_paths(), "libcuda.so", "cuPointerGetAttribute");
}

CudaAddress address_of(double const* device) { return reinterpret_cast<CudaAddress>(device); }

int rank_of_node() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto const& nodes = nodes_of_ranks();
    auto const self = nodes.begin() + rank;
    return int(std::count(nodes.begin(), self, *self));
}

/// Collective. The words of the first rank that has some; empty: none has.
std::string first_words(std::string words) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = words.empty() ? ranks : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks) return "";
    int length = int(words.size());
    MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
    words.resize(std::size_t(length));
    MPI_Bcast(words.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
    return words;
}

}  // namespace

MoreCudaFunctions::MoreCudaFunctions(LoadedLibrary const& driver) noexcept {
    driver.look_up("cuInit", start);
    driver.look_up("cuDeviceGetCount", device_count);
    driver.look_up("cuDeviceGetName", device_name);
    driver.look_up("cuMemAlloc_v2", allocate);
    driver.look_up("cuMemFree_v2", free);
    driver.look_up("cuMemAllocHost_v2", allocate_pinned);
    driver.look_up("cuMemFreeHost", free_pinned);
    driver.look_up("cuMemHostUnregister", unregister_host);
    driver.look_up("cuMemcpyDtoH_v2", copy_to_host_now);
    driver.look_up("cuMemcpyHtoD_v2", copy_to_device_now);
}

bool MoreCudaFunctions::are_all_there() const noexcept {
    return start && device_count && device_name && allocate && free && allocate_pinned &&
           free_pinned && unregister_host && copy_to_host_now && copy_to_device_now;
}

Gpu::Gpu(int rank_of_node) : Gpu(rank_of_node, driver_library()) {}

Gpu::Gpu(int rank_of_node, LoadedLibrary const& driver) : cuda_(driver), more_(driver) {
    bool const can_run = cuda_.load_module && cuda_.module_function && cuda_.launch;
    if (!cuda_.can_copy() || !can_run || !cuda_.device_of_ordinal || !cuda_.retain_primary ||
        !more_.are_all_there())
        throw std::runtime_error("the driver of CUDA lacks functions");
    int count = 0;
    demand(more_.start(0), "cuInit");
    demand(more_.device_count(&count), "cuDeviceGetCount");
    if (count == 0) throw std::runtime_error("the driver of CUDA has no GPU");
    enter(rank_of_node % count);
}

/// The context stays current, as CUDA's runtime leaves it.
void Gpu::enter(int ordinal) {
    int device = 0;
    CudaContext context = nullptr;
    std::array<char, 256> name{};
    demand(cuda_.device_of_ordinal(&device, ordinal), "cuDeviceGet");
    demand(more_.device_name(name.data(), int(name.size()) - 1, device), "cuDeviceGetName");
    name_ = name.data();
    demand(cuda_.retain_primary(&context, device), "cuDevicePrimaryCtxRetain");
    demand(cuda_.push_context(context), "cuCtxPushCurrent");
    demand(cuda_.create_stream(&stream_, cuda_stream_non_blocking), "cuStreamCreate");
    demand(cuda_.create_event(&event_, cuda_event_blocking_sync | cuda_event_disable_timing),
           "cuEventCreate");
}

Gpu::Words Gpu::device_words(std::size_t count) const {
    CudaAddress at = 0;
    require(more_.allocate(&at, count * sizeof(double)), "cuMemAlloc");
    return {reinterpret_cast<double*>(at),
            [this](double* words) { require(more_.free(address_of(words)), "cuMemFree"); }};
}

Gpu::Words Gpu::pinned_words(std::size_t count) const {
    void* at = nullptr;
    require(more_.allocate_pinned(&at, count * sizeof(double)), "cuMemAllocHost");
    return {static_cast<double*>(at),
            [this](double* words) { require(more_.free_pinned(words), "cuMemFreeHost"); }};
}

Gpu::Words Gpu::registered(std::span<double> words) const {
    require(cuda_.register_host(words.data(), words.size_bytes(), cuda_register_portable),
            "cuMemHostRegister");
    return {words.data(), [this](double* begin) {
                require(more_.unregister_host(begin), "cuMemHostUnregister");
            }};
}

void Gpu::to_host(std::span<double> host, double const* device) const {
    require(more_.copy_to_host_now(host.data(), address_of(device), host.size_bytes()),
            "cuMemcpyDtoH");
}

void Gpu::to_device(double* device, std::span<double const> host) const {
    require(more_.copy_to_device_now(address_of(device), host.data(), host.size_bytes()),
            "cuMemcpyHtoD");
}

void Gpu::to_pinned(std::span<double> host, double const* device) const {
    require(cuda_.copy_to_host(host.data(), address_of(device), host.size_bytes(), stream_),
            "cuMemcpyDtoHAsync");
    wait();
}

void Gpu::from_pinned(double* device, std::span<double const> host) const {
    require(cuda_.copy_to_device(address_of(device), host.data(), host.size_bytes(), stream_),
            "cuMemcpyHtoDAsync");
    wait();
}

void* Gpu::kernel(char const* text, char const* name) const {
    void *module = nullptr, *function = nullptr;
    require(cuda_.load_module(&module, text), "cuModuleLoadData");
    require(cuda_.module_function(&function, module, name), "cuModuleGetFunction");
    return function;
}

void Gpu::run(void* kernel, unsigned blocks, unsigned threads, void** parameters) const {
    require(cuda_.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr),
            "cuLaunchKernel");
    wait();
}

void Gpu::wait() const {
    require(cuda_.record_event(event_, stream_), "cuEventRecord");
    require(cuda_.synchronize_event(event_), "cuEventSynchronize");
}

std::string Gpu::failure(int code, char const* what) const {
    char const* name = nullptr;
    bool const is_known = cuda_.error_name && cuda_.error_name(code, &name) == cuda_success;
    return std::string(what) + ": " + (is_known && name ? name : std::to_string(code));
}

void Gpu::demand(int code, char const* what) const {
    if (code != cuda_success) throw std::runtime_error(failure(code, what));
}

void Gpu::require(int code, char const* what) const {
    if (code != cuda_success) end_job("sluice: " + failure(code, what));
}

std::unique_ptr<Gpu> gpu_of_rank(std::string& why) {
    std::unique_ptr<Gpu> gpu;
    why.clear();
    try {
        gpu = std::make_unique<Gpu>(rank_of_node());
    } catch (std::runtime_error const& error) {
        why = error.what();
    }
    why = first_words(why);
    if (!why.empty()) gpu.reset();
    return gpu;
}

}  // namespace sluice::bench
