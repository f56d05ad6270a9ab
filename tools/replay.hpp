// Writes what journals hold to the files where it belongs: for a keeper, and for `sluice recover`.
#pragma once
#include "behind/journal_format.hpp"
#include "system/mapping.hpp"

#include <functional>
#include <optional>

namespace sluice {

/// A journal as a process sees that did not write it. The descriptor outlives it.
class MappedJournal {
public:
    /// Nothing where the file is no journal.
    static std::optional<MappedJournal> of(int fd);
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
    [[nodiscard]] JournalHeader& header() const noexcept { return *header_of(bytes_); }
    /// Of a durable one; the errno, or 0. Blocks.
    [[nodiscard]] int sync() const noexcept { return sync_data(fd_); }

private:
    int fd_ = -1;
    Mapping mapping_;
    std::span<std::byte> bytes_;
};

/// What a replay asks for and tells. A function that is not given does nothing.
struct ReplayRules {
    /// A descriptor of the file that the rank has left, which stays open, in place of its name; -1:
    /// there is none.
    std::function<int(FileIdentity const&)> given = {};
    /// Which records are written; all of them without it.
    std::function<bool(JournalRecord const&)> chooses = {};
    /// Why a file is left alone, before anything is written to it; empty: it is not. The default
    /// refuses another file than the one that was written to.
    std::function<std::string(JournalRecord const&, JournalHeader const&, int fd)> refusal = {};
    /// When all files are judged, before the first is written to.
    std::function<void()> begins = {};
    /// Around each write to a file, after which so many bytes more are in their files.
    std::function<void(int fd, Bytes)> writes = {};
    /// When all bytes of a file are on its device; it is open still.
    std::function<void(int fd)> flushed = {};
};

struct ReplayOutcome {
    std::int64_t writes = 0;  ///< That are in their files now.
    Bytes bytes = 0;
    std::size_t journals = 0;          ///< That were asked for what they hold.
    std::vector<std::string> refused;  ///< Why others are not, a line each.
};

/// In the order in which the writes were acknowledged, whichever rank's they are. What a durable
/// journal held is durable in its file before it is cleared. So nothing is lost if this ends at any
/// moment, and a second call goes on where the first one ended. Blocks.
ReplayOutcome replay(std::span<MappedJournal const> journals, ReplayRules const& rules = {});

/// The records of all of them, in that order. Pure but for what is mapped.
struct SourcedRecord {
    JournalRecord record;
    std::size_t journal = 0;  ///< Its place among the journals.
};
[[nodiscard]] std::vector<SourcedRecord> merged_records(std::span<MappedJournal const> journals);

}  // namespace sluice
