// How a journal lies in its file, for all who read or write one: the rank whose writes it holds,
// its keeper, and `sluice recover`. A header page; a table of slots, each the place of a record or
// 0; a page of completed calls (behind/completed_calls.hpp); the peers; and the records: a head,
// the path, the runs of the file's layout, and the data.
//
// A record counts if a slot names it and its number is not below the header's `void_below`. In a
// durable journal its checksum must be right as well: a crash of the node leaves any part of what
// was not synced.
#pragma once
#include "base/request.hpp"
#include "behind/completed_calls.hpp"
#include "system/descriptor.hpp"

#include <atomic>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Where a journal comes from; texts end with a zero.
struct JournalOrigin {
    char host[64] = {};
    char boot[40] = {};  ///< Which start of the host's system: its boot id.
    std::int64_t rank = -1, process = 0;
    std::int64_t created = 0;  ///< Nanoseconds of the system's clock.
};

/// The process beside a rank that has its journal, and how others of the node reach that journal:
/// /proc/PROCESS/fd/DESCRIPTOR. The name tells it from what other processes may have there later.
struct JournalKeeper {
    std::int32_t process = 0;  ///< 0: there is none.
    std::int32_t descriptor = -1;
    std::uint64_t name = 0;
};

/// A rank whose delayed writes may overlap those of others: its keeper, and the rank itself, which
/// has its journal behind a descriptor as well, if the keeper was killed.
struct JournalPeer {
    JournalKeeper keeper;
    std::int32_t rank_process = 0;
    std::int32_t rank_descriptor = -1;
};

/// Lies in one sector of a device, of which a crash leaves all or nothing.
struct JournalHeader {
    std::uint64_t mark = 0;
    std::uint32_t version = 0, durable = 0;
    JournalOrigin origin;
    std::uint64_t void_below = 0;  ///< Records with smaller numbers are in their files for good.
    /// Until when the rank may have changed files; nanoseconds of the system's clock.
    std::int64_t active = 0;
    /// When a replay that did not come to its end may have changed them: from, until, and in which
    /// start of the system. 0: there was none.
    std::int64_t replay_begin = 0, replay_until = 0;
    char replay_boot[40] = {};
    // Of a journal in memory:
    JournalKeeper keeper;
    std::uint64_t peer_count = 0;  ///< See journal_peers(). 0: nobody's order matters.
    std::uint64_t rank_ended = 0;  ///< Set by the keeper: the rank takes no writes any more.
    // Of a journal with a keeper; see behind/journal_claim.hpp:
    std::uint64_t process_namespace = 0;  ///< In which the keeper knows processes by number.
    std::uint32_t owner = 0;              ///< The process whose writes it holds; 0: none yet.
    /// The rank has noticed that another one has ended, and goes on without it: what the two had
    /// delayed together will never be complete, and what the rank writes from now on is newer.
    std::uint32_t goes_on = 0;
    /// Of journal_peers(), how often a keeper has begun to write what its rank had left: such a
    /// keeper has read which calls this rank knows to be complete.
    std::uint32_t peers_written = 0;
};
static_assert(sizeof(JournalHeader) <= 512);

/// Which file the bytes of a record are of.
struct RecordedFile {
    std::string path;
    FileIdentity identity;
    FileBirth birth = {};
};

/// One delayed write, as a journal tells of it.
struct JournalRecord : RecordedFile {
    Request request;  ///< Its memory is contiguous.
    std::byte* data = nullptr;
    std::size_t slot = 0;
    std::uint64_t number = 0;  ///< Grows with each write of the process.
    /// Orders the ranks' records. In a durable journal it is the time, by the system's clock, when
    /// the write was acknowledged; in memory the number of the collective call of its file handle,
    /// or 0: no other rank has bytes there to write.
    std::int64_t stamp = 0;
    std::uint64_t opening = 0;  ///< Of that handle.
};

/// What lies before a record's data.
struct RecordHead {
    std::uint64_t mark, number;
    std::int64_t stamp;
    std::uint64_t opening;
    std::uint64_t device, inode;
    Offset displacement;
    Bytes tile_extent, position, bytes;
    std::uint64_t path_bytes, run_count;
    std::int64_t birth_time;
    std::uint32_t birth_generation, checksum;
};

constexpr std::size_t journal_slots = 4096;
constexpr Bytes journal_page = 4096;
/// Where records begin.
constexpr Bytes journal_completed = journal_page + Bytes{journal_slots * sizeof(std::uint64_t)};
constexpr Bytes journal_peers_at = journal_completed + Bytes{CompletedCalls::bytes};
constexpr Bytes journal_records = journal_peers_at + 2 * journal_page;
constexpr Bytes journal_unit = 64;  ///< Records begin at multiples of it.

/// Of a file for a journal with `bytes` for records.
[[nodiscard]] Bytes journal_bytes_for(Bytes bytes) noexcept;
/// Of what lies before a record's data.
[[nodiscard]] Bytes record_head_bytes(std::size_t path_bytes, std::size_t runs) noexcept;
[[nodiscard]] std::vector<Run> runs_of(Layout const& layout);

/// Writes what lies before the data to `at`, with no checksum.
void write_record_head(std::byte* at, Request const& request, RecordedFile const& file,
                       std::uint64_t number, NumberedCall const& call = {});
/// Gives a record, whose data are there, another stamp, and its checksum.
void seal_record(std::byte* at, std::int64_t stamp) noexcept;

/// Makes a journal of zeros one that has no record.
void format_journal(std::span<std::byte> journal, JournalOrigin const& origin,
                    bool durable) noexcept;
/// Null where the bytes are no journal that this version reads.
[[nodiscard]] JournalHeader* header_of(std::span<std::byte> journal) noexcept;
[[nodiscard]] std::atomic<std::uint64_t>& journal_slot(std::byte* journal,
                                                       std::size_t slot) noexcept;

/// Those of the rank that has the journal.
[[nodiscard]] CompletedCalls completed_calls(std::span<std::byte> journal) noexcept;

/// What a journal's bytes say, in the order of the writes. Nothing of what cannot be true.
[[nodiscard]] std::vector<JournalRecord> records_of(std::span<std::byte> journal);
/// The write of the slot is where it belongs.
void clear(std::span<std::byte> journal, std::size_t slot) noexcept;

/// As many as there is room for.
constexpr std::size_t journal_peers_most =
    static_cast<std::size_t>(journal_records - journal_peers_at) / sizeof(JournalPeer);
/// All ranks whose records may overlap, in an order that is the same for all.
[[nodiscard]] std::vector<JournalPeer> journal_peers(std::span<std::byte const> journal);
/// Notes them: at most journal_peers_most.
void store_journal_peers(std::span<std::byte> journal, std::span<JournalPeer const> peers) noexcept;

/// Stores to a header that other processes, or a later start of the system, may read.
void store_void_below(JournalHeader& header, std::uint64_t number) noexcept;
void store_active(JournalHeader& header, std::int64_t time) noexcept;

}  // namespace sluice
