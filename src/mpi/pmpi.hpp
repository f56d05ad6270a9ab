// SLUICE_PMPI(NAME) is the function to which a call goes that the MPI is to serve: the MPI's own
// PMPI_ function, or with SLUICE=chain that of the next preloaded library that defines it, such
// as a profiler.
#pragma once
#include <mpi.h>

namespace sluice {

/// Null unless SLUICE=chain and a library behind this one defines `name`.
[[nodiscard]] void* next_definition(char const* name) noexcept;

template <class Function> Function* next_or(char const* name, Function* own) noexcept {
    void* const found = next_definition(name);
    return found ? reinterpret_cast<Function*>(found) : own;
}

}  // namespace sluice

/// The function behind the intercepted NAME; looked up once a place.
#define SLUICE_PMPI(NAME)                                                                          \
    ([] {                                                                                          \
        static auto* const behind = ::sluice::next_or(#NAME, &P##NAME);                            \
        return behind;                                                                             \
    }())
