// A journal that `sluice run` has made belongs to one process at a time. The process claims it in
// the header, in one step, so that of several that inherited it one has it. Its keeper waits for
// the claim, and then for the end of that process, whatever the process that `sluice run` became
// is.
//
// The environment tells where the journal is and how to know it: whoever started the program may
// have closed the descriptor, and the program may have another file there.
#pragma once
#include "behind/journal_format.hpp"
#include "system/mapping.hpp"

#include <functional>
#include <optional>
#include <string>

namespace sluice {

/// In the place of an owner: no process may claim the journal any more, and its keeper writes out
/// what a process has left; or has done so.
constexpr std::uint32_t journal_is_over = ~std::uint32_t{0};
constexpr std::uint32_t journal_is_written = journal_is_over - 1;

/// The header of a journal of which this process needs no more.
class MappedHeader {
public:
    explicit MappedHeader(int fd);
    /// Null: the file is no journal, or cannot be mapped.
    [[nodiscard]] JournalHeader* get() const noexcept { return header_; }

private:
    std::optional<Mapping> front_;
    JournalHeader* header_ = nullptr;
};

/// For the environment: the journal behind a descriptor that the program inherits, whose header has
/// a name, and the rank's end of the keeper's line (behind/keeper_line.hpp); -1: there is none.
[[nodiscard]] std::string told_journal(int fd, JournalHeader const& header, int line = -1);

/// The journal that was told, for this process. `why` says why there is none, though one was told.
/// Where a process that had it was killed this blocks until its keeper has written what it left:
/// what this process writes is newer.
struct ClaimedJournal {
    int fd = -1, line = -1;
    std::string why = {};
};
[[nodiscard]] ClaimedJournal claim_journal(char const* told);

/// Another process may claim it: all that this one delayed is in the files.
void release_journal(JournalHeader& header) noexcept;

/// The process that has it; 0: none has it now.
[[nodiscard]] std::uint32_t owner_of(JournalHeader& header) noexcept;
/// Nobody may claim it any more: journal_is_over. False where another process than `owner` has it.
[[nodiscard]] bool end_claims(JournalHeader& header, std::uint32_t owner) noexcept;
/// All of it is in the files: journal_is_written.
void note_written(JournalHeader& header) noexcept;
/// Where the process that had the journal has ended, blocks until its keeper has written what it
/// left, or has ended, too.
void await_keeper(JournalHeader& header) noexcept;
/// Calls `changed` whenever another process has the journal, or none; never returns.
[[noreturn]] void watch_claims(JournalHeader& header, std::function<void()> const& changed);

}  // namespace sluice
