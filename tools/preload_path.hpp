// LD_PRELOAD is a list of files with blanks or colons between them, so a file in a folder with one
// in its name needs another name.
#pragma once
#include <string>

namespace sluice {

/// A name of the file that LD_PRELOAD can hold: its own, or one by a link to its folder, which this
/// makes in a folder of this user's below `folder`. Empty where that cannot be had.
[[nodiscard]] std::string name_for_preload(std::string const& file,
                                           std::string const& folder = "/tmp");

}  // namespace sluice
