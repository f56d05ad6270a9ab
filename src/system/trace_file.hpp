// The part of a rank in a trace as a file: its writer and its reader. The parts of a job become one
// file for the viewer; one part is in memory at a time.
#pragma once
#include "events/part.hpp"
#include "system/part_file.hpp"

#include <memory>
#include <optional>
#include <span>

namespace sluice {

class TracePartFile {
public:
    /// `room`: events that are kept.
    explicit TracePartFile(std::uint64_t room)
        : file(trace_kind, {trace_ring_offset, room * sizeof(TraceEvent)}),
          room_(room) {}

    /// Writes what is new: the events, then the header, which names no event that is not there.
    /// Returns what went wrong; then it should not be asked again.
    [[nodiscard]] std::string write(std::span<TraceEvent const> events);
    [[nodiscard]] std::string write(TraceHeader& header);

    PartFile file;

private:
    std::uint64_t room_, written_ = 0;
};

/// With its events, or without. Null where the file is not a part, or cannot be read. One that is
/// cut off is read as far as it goes.
[[nodiscard]] std::unique_ptr<TracePart> read_trace_part(Descriptor const& file, bool events);

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

/// "rank 1", "ranks 0, 2, 5"; not more than a few.
[[nodiscard]] std::string ranks_in_words(std::vector<int> const& ranks);

}  // namespace sluice
