// The journal of this rank: where its delayed writes lie until their bytes are safe in the files.
// It is the keeper's memory where `sluice run` has started one, or a file in the folder that the
// user named; else there is none.
#pragma once
#include "behind/journal.hpp"
#include "behind/unfinished_marks.hpp"

namespace sluice {

/// The marks of this process that its node sees; null: the launcher says that there are several
/// nodes, or nothing, or the system refuses.
[[nodiscard]] std::shared_ptr<MarkTable> const& marks_of_node();
/// Before MPI ends, when nothing is delayed any more.
void end_marks_of_node();

/// Null where there is none. The first call decides, and says where a folder was named that cannot
/// be used; `rank_bytes` are its size.
[[nodiscard]] std::shared_ptr<Journal> const& journal_of_rank(Bytes rank_bytes);
/// Whether writes may be delayed that lie in no journal: nobody promised that they outlive this
/// process. Asked after journal_of_rank().
[[nodiscard]] bool delays_without_journal();
/// Whether the user named a folder: what is delayed outlives the node, or nothing is delayed.
[[nodiscard]] bool wants_durable_journal();

/// The keeper has the file until the last of such pointers to it has gone, so that it can write to
/// it whatever becomes of its name; and its marks, where they lie in the file, so that they stay
/// until then; else `marks` is -1. Null where there is no keeper.
[[nodiscard]] std::shared_ptr<void> hand_over(FileIdentity const& file, int fd, int marks);
/// A rank of this node has ended, and this one goes on: blocks until the keepers of those that have
/// ended have written what they had. Does nothing where keepers do not know of each other.
void await_keepers_of_the_dead();
/// The same at each access afterwards: blocks until the ranks that live have written, too, what
/// they had delayed together with one that has ended.
void await_records_of_peers(std::function<void()> const& poke);

// All of the rest does nothing where the journal is not durable.

/// Sees to it that a checkpoint is made at some time. Returns at once.
void expect_checkpoint();
/// The same, and soon.
void ask_for_checkpoint();
/// Until no record of this process counts that touches bytes of `reach`. Blocks on devices. An
/// error where the file cannot be made durable: then the records stay.
/// `poke`: records before these may wait for other ranks, and these for a message of this one.
[[nodiscard]] Error wait_for_own_journal(FileIdentity const& file, Span reach,
                                         std::function<void()> const& poke);
/// Whether that would have to wait, for records older than number `below`. Local.
[[nodiscard]] bool own_journal_needs(FileIdentity const& file, std::uint64_t below);
/// The same before newer bytes are written there. Records that would stay count no longer.
void clear_own_journal(FileIdentity const& file, Span reach, std::function<void()> const& poke);
/// Why the journal has to keep bytes of the file, or had to since the last time that it was asked.
/// Blocks on devices.
[[nodiscard]] Error error_of_own_journal(FileIdentity const& file,
                                         std::function<void()> const& poke);
/// The number of this process's next record; 0 where there is no durable journal.
[[nodiscard]] std::uint64_t next_record();
/// Other ranks have written to bytes of `reach` since this process made record `below`: where the
/// file could not be made durable, what it has of them from before counts no longer.
void withdraw_overwritten(FileIdentity const& file, Span reach, std::uint64_t below);
/// Before MPI ends, when all that was delayed is in the files: removes the journal's file, or says
/// why it stays.
void end_rank_journal();

}  // namespace sluice
