// These functions find out which system calls of newer kernels there are, which containers may
// forbid and file systems may lack, and what serves in their place. They try the calls, as the
// library itself does.
#pragma once
#include <string>
#include <vector>

namespace sluice {

struct Feature {
    std::string name;
    bool here = false;
    std::string instead;  ///< What serves where it is not.
};

/// Of this process's system. Starts a process for a moment: a peer that looks for memory.
[[nodiscard]] std::vector<Feature> system_features();

/// Of the file system that the folder is in. Makes a file there that never has a name, or loses it
/// at once. Empty where that cannot be done.
[[nodiscard]] std::vector<Feature> folder_features(std::string const& folder);

}  // namespace sluice
