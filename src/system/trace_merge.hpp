// Parts of a trace become one file for the viewer. One part is in memory at a time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct MergedTrace {
    std::string error;             ///< Why there is no file; empty: there is one.
    std::vector<int> ranks;        ///< Those whose parts are in it.
    std::vector<int> cut_off;      ///< Those among them that were killed, or could not write all.
    std::uint64_t lost = 0;        ///< Events that were overwritten.
    std::int64_t clock_error = 0;  ///< Nanoseconds by which clocks may differ; the most of a rank.
};

/// Merges the parts of `file` that lie in its folder, and removes the folder; where that fails they
/// stay. `job`: only parts of this one; without it, of the one that began last.
[[nodiscard]] MergedTrace merge_trace(std::string const& file,
                                      std::optional<std::uint64_t> job = std::nullopt);
/// Whether there are parts that were not merged.
[[nodiscard]] bool has_trace_parts(std::string const& file);
/// Removes what an earlier job left, so that it is not taken for this one's.
void remove_trace_parts(std::string const& file);

/// "1 rank", "ranks 0, 2 and 5"; not more than a few.
[[nodiscard]] std::string ranks_in_words(std::vector<int> const& ranks);

}  // namespace sluice
