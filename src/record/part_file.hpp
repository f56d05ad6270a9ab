// The file into which one rank records. While the job runs each rank has one of its own, in the
// folder LOG.parts; when it ends it moves its lines into the log. A rank that is killed leaves its
// file there, with all but the last moment in it; readers take it along (tools/recorded/text.hpp).
#pragma once
#include "system/descriptor.hpp"
#include "system/parts_folder.hpp"

#include <cstdint>
#include <string>

namespace sluice::record {

/// Where the parts of a log lie.
[[nodiscard]] PartsFolder log_parts(std::string const& log);

class PartFile {
public:
    /// Makes the part of a rank, empty. Returns what went wrong; empty: nothing. What is there and
    /// is no log, or no part of one, is left alone, and so is the part of a process that runs.
    [[nodiscard]] std::string open(std::string const& log, std::int64_t rank);
    /// Removes what an earlier job left: the log, and the parts of other ranks. Called by one rank
    /// that has its part open, before the others have. A log that is none is not touched.
    [[nodiscard]] std::string clear_others();

    /// Appends. Returns what went wrong; what was written before stays.
    [[nodiscard]] std::string write(std::string const& text);
    /// Moves the part into the log, behind those of ranks that came earlier. Where that is not
    /// possible it stays where it is.
    [[nodiscard]] std::string move_into_log();

    [[nodiscard]] bool is_open() const noexcept { return fd_.get() >= 0; }

private:
    std::string log_;
    std::int64_t rank_ = 0;
    Descriptor fd_;
};

}  // namespace sluice::record
