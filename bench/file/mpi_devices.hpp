// What the MPI itself says of memory on devices: whether its own functions take pointers there.
#pragma once
#include <dlfcn.h>
#include <mpi.h>

namespace sluice {

/// A function that only some MPIs have.
template <class Function> Function* find_extension(char const* name) noexcept {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Whether the MPI says so.
inline bool mpi_reaches_devices() noexcept {
    constexpr int kinds = 3;  // MPIX_GPU_SUPPORT_CUDA, _ZE and _HIP.
    auto* const of_mpich = find_extension<int(int, int*)>("MPIX_GPU_query_support");
    for (int kind = 0; of_mpich && kind < kinds; ++kind) {
        int is_supported = 0;
        if (of_mpich(kind, &is_supported) == MPI_SUCCESS && is_supported) return true;
    }
    auto* const cuda = find_extension<int()>("MPIX_Query_cuda_support");
    auto* const rocm = find_extension<int()>("MPIX_Query_rocm_support");
    return (cuda && cuda() == 1) || (rocm && rocm() == 1);
}

}  // namespace sluice
