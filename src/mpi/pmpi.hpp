// Where calls go that the MPI is to do: to the MPI itself, or with SLUICE_CHAIN=on to the next
// preloaded library that defines them (a profiler, say), which hands them on in turn.
#pragma once
#include <mpi.h>

namespace sluice {

/// Null unless SLUICE_CHAIN=on and a library behind this one defines `name`.
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
