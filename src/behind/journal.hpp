// A Journal keeps the bytes of delayed writes in a file, which outlives the process: in memory, for
// the rank's keeper, or in a folder, for a later start of the system, too. Each record says which
// file, which bytes of it, and what is to be there (behind/journal_format.hpp).
//
// In memory a record counts until its bytes are in the file. A durable journal keeps it until they
// are on the file's device: checkpoint() makes the files durable first, and voids records then. It
// does so in the order of their numbers. Of two writes of a byte the later one is never void while
// the earlier one counts, which would bring old bytes back.
#pragma once
#include "base/error.hpp"
#include "behind/journal_format.hpp"
#include "system/bounded_memory.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace sluice {

/// Where delayed bytes belong.
struct JournaledFile : RecordedFile {
    /// Makes what is in the file durable, whichever process of the node wrote it. Of a durable
    /// journal; called by the thread that makes a checkpoint.
    std::function<Error()> sync = {};
};

/// What a durable journal does to the world; tests put a device of their own behind it.
struct JournalEffects {
    std::function<Error()> sync;          ///< Makes all bytes of the journal durable.
    std::function<std::int64_t()> clock;  ///< Nanoseconds, which other ranks count alike.
};

class Journal : public std::enable_shared_from_this<Journal> {
public:
    /// A write that has memory. It is in the journal from commit() until this is destroyed, which
    /// says that the bytes are in their file; in a durable one until the next checkpoint then.
    class Entry {
    public:
        Entry(std::shared_ptr<Journal> journal, std::uint64_t number, std::byte* at,
              Bytes head_bytes) noexcept;
        ~Entry();
        Entry(Entry const&) = delete;
        Entry& operator=(Entry const&) = delete;

        [[nodiscard]] std::byte* data() const noexcept { return at_ + head_bytes_; }
        /// The memory that the data of all entries lies in.
        [[nodiscard]] std::span<std::byte> all() const noexcept { return journal_->memory_->all(); }
        /// The data is there. The write may be acknowledged where this returns no error. Blocks
        /// on the device of a durable journal.
        [[nodiscard]] Error commit();
        [[nodiscard]] bool is_durable() const noexcept { return journal_->is_durable(); }
        /// Kept until the record counts no longer.
        void keep(std::shared_ptr<void> hold);

    private:
        std::shared_ptr<Journal> journal_;
        std::uint64_t number_;
        std::byte* at_;
        Bytes head_bytes_;
    };

    /// Takes a file that is `bytes` long: of zeros, or with a header that format_journal() wrote,
    /// of which another process may have used it before, to the end. It is durable if it has
    /// effects. Null where it is too short, cannot be mapped, or is something else.
    static std::shared_ptr<Journal> create(int fd, Bytes bytes, JournalEffects effects = {});

    /// Null where there is no room now. `reach`: from the first to the last byte of the file.
    /// `call`: of several ranks' records in memory that overlap the one of the later call is the
    /// later one.
    [[nodiscard]] std::unique_ptr<Entry> take(Request const& request, JournaledFile const& file,
                                              Span reach = {}, NumberedCall const& call = {});
    /// Whether take() can ever succeed; false also where the description would be too long.
    [[nodiscard]] bool could_take(Request const& request, JournaledFile const& file) const;

    // Of a durable journal, by any thread:

    /// Voids the records whose bytes are in their files, up to the first whose bytes are not.
    /// Blocks on the devices. After any error nothing is taken any more; after one of a file
    /// nothing is voided either, because only the journal still has the bytes.
    Error checkpoint();
    /// Records of the file that touch `reach`, are older than number `below`, and whose bytes are
    /// in it count no longer, though the file could not be made durable: what the program writes
    /// now is newer. Blocks.
    void withdraw(FileIdentity const& file, Span reach, std::uint64_t below = ~std::uint64_t{0});
    /// The number of the record that is taken next.
    [[nodiscard]] std::uint64_t next_number() const;
    /// Whether a record of the file counts that may touch bytes of `reach`, and is older than
    /// number `below`.
    [[nodiscard]] bool holds(FileIdentity const& file, Span reach,
                             std::uint64_t below = ~std::uint64_t{0}) const;
    /// Whether a checkpoint would void something.
    [[nodiscard]] bool is_due() const;
    /// Whether any record counts, or will.
    [[nodiscard]] bool is_empty() const;
    /// Bytes that records take.
    [[nodiscard]] Bytes used() const;
    [[nodiscard]] Bytes bytes() const noexcept { return memory_->bytes(); }
    /// Notes that the rank may change files until now. See JournalHeader::active.
    void note_active() noexcept;
    /// What went wrong first; nothing is taken any more then.
    [[nodiscard]] Error failure() const;
    /// Whether the file had records when one could not be made durable; true once.
    [[nodiscard]] bool take_untold(FileIdentity const& file);
    /// Whether a file could not be made durable.
    [[nodiscard]] bool has_given_up() const;
    [[nodiscard]] bool is_durable() const noexcept { return effects_.sync != nullptr; }

    /// Of one in memory: who has it beside the rank.
    [[nodiscard]] JournalPeer as_peer() const noexcept;
    /// From now on the keeper knows those of other ranks, whose records may overlap this one's.
    void introduce(std::span<JournalPeer const> peers);
    /// Those that introduce() named.
    [[nodiscard]] std::vector<JournalPeer> peers() const;
    /// Of the ranks that introduce() named: those that have ended are done with when this returns,
    /// and no keeper writes behind what this rank writes then. Blocks.
    void await_keepers_of_the_dead();
    /// Whether one of them has ended, as far as this rank has noticed.
    [[nodiscard]] bool goes_on() const noexcept;
    /// A place for the calls of a file's handle, for note_complete(); none: too many are open.
    [[nodiscard]] std::optional<std::size_t> begin_calls(std::uint64_t opening);
    void end_calls(std::size_t place);
    /// All bytes of a collective write are in the file. To be called before this process writes
    /// over any of them. Blocks if the keeper of a rank that has ended may still take them for
    /// missing, until it has written them.
    void note_complete(std::size_t place, std::int64_t call);
    /// Gives up the claim of this process, if nothing is left in the journal.
    void release();

private:
    /// A record that counts, or will.
    struct Item {
        BoundedMemory::Part part;
        Bytes bytes = 0;
        std::size_t slot = 0;
        JournaledFile file;
        Span reach;
        std::vector<std::shared_ptr<void>> holds;
        bool is_in_file = false;

        [[nodiscard]] bool is_of(FileIdentity const& other, Span span) const noexcept {
            return file.identity == other && !clip(reach, span).empty();
        }
    };
    using Items = std::map<std::uint64_t, Item>;

    Journal(int fd, Mapping front, std::shared_ptr<BoundedMemory> memory, JournalEffects effects);
    [[nodiscard]] std::atomic<std::uint64_t>& slot(std::size_t number) const noexcept;
    [[nodiscard]] JournalHeader& header() const noexcept;
    [[nodiscard]] CompletedCalls completed() const noexcept;
    [[nodiscard]] Error commit(std::uint64_t number);
    void end(std::uint64_t number);
    [[nodiscard]] std::uint64_t first_under_way() const;
    [[nodiscard]] std::vector<JournaledFile> files_below(std::uint64_t number) const;
    [[nodiscard]] Error void_below(std::uint64_t number);
    Error give_up(Error const& error);
    void note(Error const& error);
    bool remove(std::function<bool(std::uint64_t, Item const&)> const& which);
    void let_go();

    int fd_;
    Mapping front_;  ///< All before the records.
    std::shared_ptr<BoundedMemory> memory_;
    JournalEffects effects_;
    std::mutex checkpoint_mutex_;                  ///< Held by whoever makes one.
    std::atomic<std::uint32_t> peers_written_{0};  ///< JournalHeader::peers_written, as awaited.
    mutable std::mutex mutex_;                     ///< Guards the fields below.
    std::vector<std::size_t> free_slots_;
    Items items_;  ///< By number.
    std::uint64_t next_number_ = 1;
    std::int64_t last_stamp_ = 0;
    Bytes used_ = 0;
    Error failure_;
    bool files_failed_ = false;
    std::vector<JournaledFile> untold_;  ///< See take_untold().
};

}  // namespace sluice
