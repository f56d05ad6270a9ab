// The known name that somebody may have meant. Pure.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

/// The name with the fewest insertions, removals, replacements and swaps of neighbours from `word`,
/// if they are few: at most a third of its letters. The first of several.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::vector<std::string_view> const& names);

}  // namespace sluice
