// Journals in a folder: a file for each rank, whose name is used once. Whoever may still need the
// file, the rank or its keeper, holds its lock, which the system gives back when they end.
#pragma once
#include "behind/journal.hpp"

#include <string>
#include <vector>

namespace sluice {

/// Nanoseconds since 1970, as the host's clock has it.
[[nodiscard]] std::int64_t system_clock_ns() noexcept;
/// Of this host, this start of its system, and this process.
[[nodiscard]] JournalOrigin origin_here(std::int64_t rank) noexcept;

/// A journal's file. Closing the descriptor gives the lock back.
struct JournalFile {
    std::string path;
    Descriptor descriptor;
    Error error;  ///< Why there is none.
};

/// Makes one that is `bytes` long, all of it backed by the device, with a header and no record, and
/// holds its lock. Blocks on the device.
[[nodiscard]] JournalFile make_journal_file(std::string const& folder, Bytes bytes,
                                            std::int64_t rank);
/// A journal that is there. Its lock is held if `is_free`; else its owner still runs.
struct FoundJournal {
    JournalFile file;
    bool is_free = false;
};
/// Those of a folder, by name; none where it cannot be read, and `error` says why then.
[[nodiscard]] std::vector<FoundJournal> journals_in(std::string const& folder, Error& error);
/// Removes files that their processes were killed over before they became journals.
void clear_unfinished_journals(std::string const& folder);
/// How many of them nobody holds: their ranks have ended, and `sluice recover` has not come yet.
[[nodiscard]] std::size_t count_left_journals(std::string const& folder);

/// The system's, for a journal file that is open.
[[nodiscard]] JournalEffects device_effects(int fd);

/// What to say of journals that are there; empty where there are none.
[[nodiscard]] std::string left_journals_in_words(std::string const& folder);

}  // namespace sluice
