// Every OpenMP library has the function by this name. See openmp.hpp.
#include "system/openmp.hpp"

#include <algorithm>
#include <dlfcn.h>

namespace sluice {

int openmp_threads() noexcept {
    using Count = int (*)();
    auto const count = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    return count ? std::max(1, count()) : 1;
}

}  // namespace sluice
