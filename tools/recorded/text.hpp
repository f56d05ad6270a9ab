// The text of a recorded log, wherever its ranks left it: for the command and for the replay.
#pragma once
#include <string>

namespace sluice {

struct RecordText {
    std::string text;
    std::string error;  ///< Empty: the text is whole.
};

/// The log, plain or as .gz, with what ranks left that did not come to their end, in LOG.parts.
[[nodiscard]] RecordText read_record(std::string const& path);

/// Whether a file, or what ranks left of it, is such a log.
[[nodiscard]] bool is_record(std::string const& path);

}  // namespace sluice
