// The file behind the pattern e3sm, for all programs that offer patterns.
#pragma once
#include <string>

namespace sluice {

struct DecompositionFile {
    std::string text;
    std::string error;  ///< Empty: the text is whole.
};

/// Plain text, or .gz by way of zcat. No path: the one that is installed with this program.
[[nodiscard]] DecompositionFile read_decomposition(std::string const& path);

}  // namespace sluice
