// Sluice's own programs under an mpiexec.
#pragma once
#include "system/launcher.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::tools {

/// Ends a rank that is alone in its world though more were started: its figures would be of another
/// job than the one that was asked for.
inline void end_if_apart(int ranks_of_world) {
    std::string const apart = apart_from_launcher(ranks_of_world).what;
    if (apart.empty()) return;
    std::fprintf(stderr, "sluice: %s\n", apart.c_str());
    std::_Exit(1);
}

}  // namespace sluice::tools
