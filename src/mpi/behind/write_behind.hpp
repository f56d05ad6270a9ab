// Write-behind: a blocking write returns when its bytes have been copied, and reaches the file
// while the program computes. A WriteBehind is what a Delayed needs for it: how fast the storage
// is, the independent writes whose calls have returned, and marks by which other processes see that
// bytes are still to come. A collective write that is delayed is an operation of the file's queue,
// like a nonblocking one.
#pragma once
#include "behind/unfinished_marks.hpp"
#include "mpi/behind/delayed.hpp"
#include "mpi/behind/independent_writes.hpp"
#include "mpi/events/traced_behind.hpp"
#include "system/bounded_memory.hpp"

#include <deque>

namespace sluice {

/// What is given back when a delayed write is complete.
struct KeptWrite {
    // In this order: others see the mark until the journal has no record any more.
    std::shared_ptr<void> mark;  ///< None: nobody has to be told, or is told yet.
    std::shared_ptr<void> memory;
    std::shared_ptr<void> counted;  ///< Among the long ones under way; none of a short one.
    Span reach;
    TracedBehind traced;
};

class WriteBehind {
public:
    /// `file` must live as long as this.
    explicit WriteBehind(DelayedFile const& file);

    /// Copies the bytes of a blocking write, which are then the library's, and turns the call into
    /// one for which nobody waits; null where the call has to write them itself: they are too many,
    /// the storage is fast or nearly full, or other processes could not be told. Waits for earlier
    /// writes where there is no room for them. Local.
    [[nodiscard]] std::shared_ptr<KeptWrite> take(Call& call, bool collective);
    /// Tells ranks that have no part in a collective write of what it has taken; false where they
    /// cannot be told, and the call has to wait for it. They wait for what they are told of, so
    /// that must need nobody's call any more: blocks until all ranks of the communicator have made
    /// theirs. Returns at once where all ranks of the program have a part, and no keeper could
    /// write such bytes late. Collective in effect.
    [[nodiscard]] bool tell_others(Operation const& operation, KeptWrite& kept);
    /// Whether what was taken at any time must not overlap: marks know no order, nor do keepers
    /// that do not know of each other.
    [[nodiscard]] bool takes_disjoint() const;
    /// The next collective write notes by itself when it is complete.
    void number(Call& call) const;
    /// Those whose bytes were taken.
    [[nodiscard]] IndependentWrites& independent() noexcept { return independent_; }
    /// Until no other process, and no other handle of this one, has bytes of `reach` to write.
    void wait_for_others(Span reach);
    /// The operation of a blocking or split collective call, of which all ranks make the same ones
    /// in the same order: a write. `record`: next_record() before the call.
    void note_collective(std::shared_ptr<Operation> const& operation, std::uint64_t record);
    /// Where this rank's journal has to keep bytes for ever: those go that ranks have written anew
    /// in operations that are complete. Blocks on the journal's device.
    void withdraw_overwritten() const;
    /// Until no journal of another rank holds bytes of `reach` that one of these has written.
    void wait_until_void_on_others(Span reach);

    /// What a write took: it tells whether the storage is faster than a copy is worth.
    void note_speed(Bytes bytes, double seconds) noexcept;
    void note_speed(Operation const& operation) noexcept;
    [[nodiscard]] BehindStatistics statistics() const;

private:
    [[nodiscard]] bool has_room_in_file(Bytes bytes);
    [[nodiscard]] Bytes of_all_ranks(Request const& request, bool collective) const noexcept;
    [[nodiscard]] std::shared_ptr<void> count(Bytes of_all) const;
    /// Memory for the bytes of a write.
    struct Memory {
        std::byte* data = nullptr;
        std::shared_ptr<void> hold;
        std::span<std::byte> all = {};    ///< What the memory of all writes lies in.
        Journal::Entry* entry = nullptr;  ///< Null: there is no journal.
    };
    [[nodiscard]] std::optional<Memory> take_memory(Request const& request, bool collective);
    [[nodiscard]] std::optional<Memory> wait_for_memory(Request const& request, bool collective);
    /// The next call, where keepers write what it leaves in the order of the calls.
    [[nodiscard]] NumberedCall call_of(bool collective) const noexcept;
    [[nodiscard]] std::shared_ptr<void> handed();
    [[nodiscard]] bool secure(Memory const& memory, KeptWrite& kept);
    [[nodiscard]] bool may_take(Call const& call, bool collective) const noexcept;
    [[nodiscard]] bool tells_collective() const;
    [[nodiscard]] Span mark_of(Request const& request, bool collective) const;
    [[nodiscard]] std::shared_ptr<UnfinishedMarks> const& marks();
    [[nodiscard]] bool hold(Span range, std::shared_ptr<void>& mark);
    void run(IndependentWrite& write);
    [[nodiscard]] Span mark_of_call(std::uint64_t number) const noexcept;

    /// A collective write, by its number among those of this handle.
    struct NotedCall {
        std::uint64_t number = 0;
        std::shared_ptr<Operation> operation;
        std::uint64_t record = 0;  ///< Of this rank's journal: those before are older.
    };
    void forget_void_calls();

    DelayedFile const& file_;
    std::once_flag marks_wanted_;
    std::shared_ptr<UnfinishedMarks> marks_;  ///< Null until marks_wanted_.
    Rank ranks_;                              ///< Of the communicator.
    bool all_take_part_;                      ///< All ranks of the program, in collective calls.
    bool is_alone_;                           ///< The program has one rank.
    StorageSpeed speed_;
    std::shared_ptr<std::atomic<int>> long_;  ///< Delayed writes under way; they may outlive this.
    std::atomic<std::uint64_t> collective_calls_{0};  ///< Writes.
    mutable std::mutex mutex_;                        ///< Guards the fields below.
    Bytes room_ = 0;  ///< Half of what the file system had, less what was written since.
    BehindStatistics statistics_;
    std::shared_ptr<void> handed_;   ///< The file, to the keeper; null: not yet, or there is none.
    bool marks_are_handed_ = false;  ///< Those that lie in the file.
    std::deque<NotedCall> noted_;
    IndependentWrites independent_;
};

}  // namespace sluice
