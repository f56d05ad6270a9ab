// What calls on an open file leave to be done behind them: blocking writes whose bytes were copied,
// and operations whose calls returned because this rank's part was done. A Delayed has those of one
// handle. Calls take() bytes and leave() operations in it; whatever touches bytes of the file
// afterwards has to wait_for() them, whichever handle of the file, and whichever process, has them.
//
// Three mechanisms keep order, and no other does:
// - the queues of a handle: of its operations, for collective calls of that handle, and of its
//   delayed independent writes (independent_writes.hpp), for one more of them;
// - marks (behind/unfinished_marks.hpp), which other processes see: of bytes of an independent
//   write, or of a collective call whose bytes lie in durable journals;
// - the order of records in journals (behind/journal_format.hpp), for what writes out a journal
//   when its rank has ended.
#pragma once
#include "behind/journal.hpp"
#include "behind/storage_speed.hpp"
#include "file/run/operation.hpp"
#include "mpi/communicator/team.hpp"
#include "storage/stored_file.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice {

class OrderedCalls;
class UnfinishedMarks;
class WriteBehind;
struct IndependentWrite;
struct KeptWrite;

/// What went on after its call; of one rank.
struct BehindStatistics {
    std::int64_t writes = 0;
    Bytes bytes = 0;
    double blocked_for_memory = 0;  ///< Seconds that calls waited for room.
};

/// What the writes of a file may be delayed by.
struct DelayRules {
    Bytes rank_bytes = 0;  ///< Of memory, for all files of this rank; 0: none is delayed.
    std::shared_ptr<OrderedCalls> order;  ///< See introduce_keepers().
    SpeedRules speed;
};

/// An open file, as one handle has it.
struct DelayedFile {
    std::shared_ptr<Team> team;
    std::shared_ptr<StoredFile> storage;
    int fd = -1;                ///< Of the storage; none: the MPI alone reaches the file.
    std::uint64_t opening = 0;  ///< OwnFile::number.
    JournaledFile journaled;
    /// Writes may be delayed, or reads be made ahead: operations keep the order of the calls.
    bool ordered = false;
    DelayRules rules;
};

/// What a call is about to do to bytes of the file.
enum class Before : std::uint8_t {
    read,   ///< Others must have written theirs.
    sync,   ///< And no journal holds them any more, if the file could be made durable.
    write,  ///< And none does at all: it would bring back, after a crash, what was there before.
};

/// What a call comes behind by itself, of what earlier calls of its handle have left.
enum class Follows : std::uint8_t {
    nothing,
    operations,   ///< Its own operation has its place in the operation queue.
    independent,  ///< It is offered to take_independent().
};

/// What calls met after they had returned.
struct LateErrors {
    Status collective = Status::ok;  ///< Of collective writes: each rank hears of them by itself.
    Status own = Status::ok;         ///< Of this rank's independent writes and its journal.
    [[nodiscard]] Status any() const noexcept { return agreed(collective, own); }
};

/// The bytes of a blocking write that the library has; none if `kept` is null.
struct TakenWrite {
    std::shared_ptr<KeptWrite> kept;
    Direction direction = Direction::write;
    std::uint64_t record = 0;  ///< Of this rank's journal: those before are older.
};

class Delayed {
public:
    /// `ended` accounts for an operation that ended after its call had returned; it is called in
    /// late_errors() and settle().
    static std::shared_ptr<Delayed> create(DelayedFile file,
                                           std::function<void(Operation const&)> ended);
    ~Delayed();
    Delayed(Delayed const&) = delete;
    Delayed& operator=(Delayed const&) = delete;

    /// The bytes of a blocking collective write are the library's when this returns, and the call
    /// is one for which nobody waits; or `kept` is null: the call has to write them itself, because
    /// they are too many, the storage is fast or nearly full, or other processes could not be told.
    /// `may`: false if it has to in any case. Waits for earlier writes where there is no room.
    /// Local.
    [[nodiscard]] TakenWrite take_collective(Call& call, bool may);
    /// Its operation has begun. True: the call may return; false where ranks that have no part in
    /// the write cannot be told, and the call waits for it. Collective in effect.
    bool leave(std::shared_ptr<Operation> const& operation, TakenWrite const& taken);
    /// The same of an operation that has moved all bytes of this rank, which go on behind it.
    void leave(std::shared_ptr<Operation> const& operation);
    /// The same of an independent write, which begins if its bytes are taken, behind those of this
    /// handle that touch them. False: they are not, and none of those is under way any more.
    [[nodiscard]] bool take_independent(Call& call);

    /// Before a call touches bytes of `reach`. Local, blocks, also on devices.
    void wait_for(Span reach, Before what, Follows follows = Follows::nothing);
    /// Until no other process has a mark in the range. Local, blocks.
    static void wait_for_marks(UnfinishedMarks& marks, Span range,
                               std::function<void()> const& poke);
    /// Until no other process has bytes of a file to write, of which this one may have no handle.
    /// Local, blocks.
    static void wait_for_others_of(int fd, FileIdentity const& file,
                                   std::function<void()> const& poke);
    /// The same before the MPI touches any bytes of any file.
    static void wait_for_all();
    /// How far the writes reach that calls of this process have delayed: the file ends there, or
    /// behind, once they are in it. Waits for none of them, but for ranks that have not come yet to
    /// a collective call. Local, blocks.
    [[nodiscard]] Offset end_of_own() const;
    /// Whether there may be anything to wait for: any file of this process may delay.
    [[nodiscard]] bool minds_others() const noexcept;
    [[nodiscard]] bool ordered() const noexcept { return file_.ordered; }
    /// Until this handle's independent writes are in the file, and its rank's journal needs none of
    /// the file. Local, blocks, also on devices.
    void drain();

    /// Whether nothing is under way, and the rank's journal needs no record of the file that is
    /// older than number `below`. Local.
    [[nodiscard]] bool is_drained(std::uint64_t below) const;
    /// Whether the operation was left, and is not accounted for.
    [[nodiscard]] bool has(Operation const& operation) const;

    /// The file is closed soon, and drained: calls on other handles ask this one no more.
    void forget();

    /// Until the operations of all blocking calls that have returned are complete and accounted
    /// for; their errors are kept. A call of this rank returned, so the other ranks come to it.
    void settle();
    /// The errors of what ended after its blocking call had returned; each is returned once. Local.
    [[nodiscard]] LateErrors late_errors();
    /// The same, and each time why this rank's journal has to keep bytes. Blocks on devices. Local.
    [[nodiscard]] LateErrors late_errors_and_journal();

    /// What a write took: it tells whether the storage is faster than a copy is worth.
    void note_speed(Bytes bytes, double seconds) noexcept;
    void note_speed(Operation const& operation) noexcept;
    [[nodiscard]] BehindStatistics statistics() const;

private:
    Delayed(DelayedFile file, std::function<void(Operation const&)> ended);
    void wait_for_left(Span reach);
    [[nodiscard]] bool comes_behind(Follows follows, Before what) const;
    [[nodiscard]] Offset end_of_left() const;
    void wait_until_void(Span reach);
    [[nodiscard]] std::function<void()> poke() const;
    [[nodiscard]] bool left_untold(std::shared_ptr<Operation> const& operation, KeptWrite& kept);
    void account();
    void account_for_independent();
    [[nodiscard]] std::vector<std::shared_ptr<Operation>> left() const;

    DelayedFile const file_;
    std::function<void(Operation const&)> const ended_;
    std::unique_ptr<WriteBehind> const writes_;
    mutable std::mutex mutex_;  ///< Guards the fields below.
    std::vector<std::shared_ptr<Operation>> left_;
    LateErrors late_;  ///< Of those that are accounted for: not raised yet.
};

}  // namespace sluice
