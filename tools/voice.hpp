// Who speaks: a command that a launcher starts as each rank says once what all of them could say.
#pragma once
#include "system/launcher.hpp"

#include <cstdio>

namespace sluice {

/// Where nothing is heard.
inline std::FILE* nobody() noexcept {
    static std::FILE* const nowhere = std::fopen("/dev/null", "w");
    return nowhere ? nowhere : stderr;
}
/// What is the same for all ranks: standard error of the first, or of a process that is no rank.
inline std::FILE* voice_of_job() noexcept { return launched().rank > 0 ? nobody() : stderr; }
/// What may differ between nodes: of the first rank of each.
inline std::FILE* voice_of_node() noexcept {
    return launched().rank_of_node > 0 ? nobody() : stderr;
}

}  // namespace sluice
