// The part of a rank in a trace as a file: its writer, which copies what is new in memory, and its
// reader. Until parts are merged they lie in the folder FILE.parts. A part is written while the job
// runs, so that what a rank did is there when the rank was killed.
#pragma once
#include "system/descriptor.hpp"
#include "system/parts_folder.hpp"
#include "trace/part.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

/// Where the parts of a trace lie.
[[nodiscard]] PartsFolder trace_parts(std::string const& file);

/// Whether a trace may take the place of the file: none is there, or an empty one, or a trace.
[[nodiscard]] bool is_free_for_trace(std::string const& file);

class TracePartFile {
public:
    /// Makes the folder where there is none. Null, and `why`: the system refuses, or what is there
    /// is no trace, or no part of one.
    static std::unique_ptr<TracePartFile> create(std::string const& file, int rank,
                                                 std::string& why);

    /// Writes what is new. False where the system refuses; then it should not be asked again.
    bool write(TraceTables& tables, std::array<TraceEvent*, trace_lanes> const& rings,
               std::string& why);

private:
    explicit TracePartFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
    bool write_ring(std::uint32_t lane, TraceEvent const* ring, std::uint64_t written,
                    std::uint32_t room);
    bool put(void const* from, std::size_t bytes, std::uint64_t offset);

    Descriptor descriptor_;
    std::array<std::uint64_t, trace_lanes> written_{};
};

/// With its events, or without. Nothing where the file is not a part, or cannot be read. One that
/// is cut off is read as far as it goes.
[[nodiscard]] std::optional<TracePart> read_trace_part(Descriptor const& file, bool events);

}  // namespace sluice
