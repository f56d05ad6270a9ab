// How the next library's functions are looked up. See pmpi.hpp.
#include "mpi/pmpi.hpp"

#include "system/environment.hpp"

#include <dlfcn.h>

namespace sluice {

void* next_definition(char const* name) noexcept {
    return settings().chain ? dlsym(RTLD_NEXT, name) : nullptr;
}

}  // namespace sluice
