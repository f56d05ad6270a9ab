// A File is what the library knows of an MPI_File: its view, hints, operation queue and storage.
// The MPI keeps a handle of its own and the individual file pointer, and where the ranks are on
// several nodes the shared one as well. Open files are found by their handle.
#pragma once
#include "mpi/behind/delayed.hpp"
#include "mpi/communicator/queues.hpp"
#include "mpi/file/read_ahead.hpp"
#include "mpi/file/storages.hpp"
#include "mpi/file/view.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/progress/threads.hpp"
#include "mpi/requests/started.hpp"

#include <memory>
#include <mpi.h>

namespace sluice {

/// The cost model against the clock; seconds.
struct Foretold {
    std::int64_t operations = 0;  ///< That were priced.
    double estimated = 0, measured = 0;
    double worst = 1;  ///< The ratio of the two that was farthest from 1.

    void add(double estimate, double took) noexcept;
};

/// Independent calls that were served and did not fail.
struct AloneStatistics {
    std::int64_t writes = 0, reads = 0;
    Bytes bytes = 0;
};

/// Sums of one file, of one rank. Seconds are of the wall clock.
struct FileStatistics {
    std::int64_t operations = 0, writes = 0, reads = 0;
    Bytes bytes = 0;
    std::int64_t passed = 0;     ///< Calls that were handed on to the MPI.
    double blocked_seconds = 0;  ///< The program was inside our calls.
    double drained_seconds = 0;  ///< Of these, in calls such as sync and close, for earlier calls.
    double busy_seconds = 0;     ///< At least one operation was under way.
    Tally tally;                 ///< Of all operations.
    Foretold priced;
    AloneStatistics alone;
    BehindStatistics behind;
    AheadStatistics ahead;
    Plan last_plan;  ///< Of the operation that was completed last.
};

class Access;
struct OwnFile;

class File final : public WaitAccount {
public:
    File(MPI_File handle, std::shared_ptr<Team> team, QueuePlace& place, OwnFile own, int amode,
         FileHints hints);
    ~File();

    /// False while the MPI must serve this file: its view has a data representation of the user's.
    [[nodiscard]] bool served() const noexcept { return view.known; }

    /// The next operation on this file; local, returns at once.
    std::shared_ptr<Operation> start(Call call, bool background);
    /// Until the operation is complete; the calling thread moves it on.
    void wait(Operation& operation);
    /// The same for a blocking call, which may return earlier: false where the operation goes on
    /// behind it, without this rank's memory. An error of it comes with a later call.
    bool wait_for_own_part(std::shared_ptr<Operation> const& operation);
    /// Blocking; returns the status that all ranks agreed on, when all operations before it have
    /// begun: it takes a place among those that may be under way. Collective.
    Status agree(Status mine);
    /// The same past the operations, which neither delay it nor are delayed. Collective.
    Status agree_beside(Status mine);
    /// Of each word all ranks learn the largest, past the operations. Collective, blocks.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine) const;
    /// The same with what this rank met in `operation`, a function of MPI, which is logged.
    Status agree(char const* operation, Error const& mine);
    /// Logs what this rank met in `operation` on the file. Local.
    void log(std::string const& operation, Error const& error) const;
    /// Until all operations of this rank on the file are complete. Collective in effect.
    void drain();
    /// The same of those that use the program's memory.
    void drain_requests();
    /// Closes the file of the system, and logs what that tells of earlier writes. Local, blocks.
    Status release_storage();
    /// Of a closed file: whether all are complete, and this rank's journal needs none of it. Local.
    [[nodiscard]] bool is_drained() const;

    /// Whether a read reaches behind the end of the file as it is now. Local.
    [[nodiscard]] bool is_beyond_end(Request const& request) const noexcept;
    /// Before a call changes bytes of `changed`, by any handle of this process: what was read ahead
    /// of them is not used. Local.
    void drop_read_ahead(Span changed);

    /// The pointer that the ranks share; null: they are on several nodes, and the MPI has it.
    [[nodiscard]] SharedFilePointer* shared_pointer() const noexcept {
        return place_.shared_pointer.get();
    }

    /// Gives the operation queue to the next file that is opened. All ranks must do this at the
    /// same point of the program, or they would disagree on who uses which operation queue.
    void release_queue() {
        end_trace();
        place_.used = false;
    }
    /// No call begins anything on the file any more, and it goes on by itself. Local.
    void begin_to_close() noexcept;
    /// It is complete: gives back the memory of what was read ahead. True the first time.
    [[nodiscard]] bool give_back();
    /// Whether MPI_File_close leaves under way what needs no call: delayed writes, if the user says
    /// so, and reads that are made ahead, which nobody misses. The same on all ranks.
    [[nodiscard]] bool closes_behind() const noexcept {
        bool const only_reads = (amode & MPI_MODE_RDONLY) != 0;
        return delayed->ordered() &&
               (only_reads ? hints.read_ahead > 0
                           : hints.close == Close::behind && hints.write_behind > 0);
    }

    /// Operations are recorded from now on, where a trace is wanted. `number` tells this opening of
    /// the file from others, on all ranks.
    void begin_trace(std::uint64_t number);
    /// The call that the program is in began or completed an operation.
    void note_in_trace(Operation const& operation, Bytes bytes) const;

    /// New values, but for what holds from open to close.
    void set_hints(FileHints next);
    /// Hints with the values that this file uses, for MPI_File_get_info.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> hints_in_force() const;

    /// Accounting: the program is done with an operation, and was blocked in a call.
    void completed(Operation const& operation);
    /// The same of an independent call, which moved so many bytes.
    void completed_alone(Direction way, Bytes bytes);
    void blocked(double seconds) override;
    void drained(double seconds);
    /// A call on the file was handed on to the MPI.
    void passed() noexcept { passed_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] FileStatistics statistics() const;

    MPI_File const handle;
    std::shared_ptr<Team> const team;
    std::string const name;  ///< As the system knows it, or else the MPI.
    int const amode;
    FileHints hints;
    FileView view;
    bool atomic = false;
    std::uint64_t const opening;   ///< AgreedOpen::number.
    std::uint64_t const sequence;  ///< Among the team's files.
    bool const tells_late;         ///< AgreedOpen::tells_late.
    FileIdentity const identity;
    std::shared_ptr<StoredFile> const storage;
    std::shared_ptr<Delayed> const delayed;
    ReadAhead ahead;
    bool exact = false;             ///< The MPI has taken its ExactHints.
    std::unique_ptr<Access> split;  ///< The split collective that was begun.
    /// See PointerLock. Recursive: an error handler of the program may seek.
    mutable std::recursive_mutex pointer_mutex;

private:
    void end_trace();
    void hand_over(std::shared_ptr<Operation> const& operation, bool background);
    void foretell(Operation const& operation);

    int const fd_;  ///< Of the storage.
    QueuePlace& place_;
    std::unique_ptr<FileTrace const> trace_;  ///< Null: there is none.
    std::atomic<std::int64_t> passed_{0};
    std::uint64_t closed_at_ = 0;  ///< next_record() at the close.
    std::atomic<bool> gave_back_{false};
    mutable std::mutex mutex_;  ///< Guards the fields below.
    std::vector<std::weak_ptr<Operation>> pending_;
    FileStatistics statistics_;
    double busy_until_ = 0;  ///< Operations overlap: time is counted once.
};

/// Held by a thread that reads the individual file pointer and moves it, or lets the MPI move it. A
/// program whose threads may not call MPI at the same time pays nothing.
class PointerLock {
public:
    explicit PointerLock(File const& file) : lock_(file.pointer_mutex, std::defer_lock) {
        if (thread_multiple()) lock_.lock();
    }

private:
    std::unique_lock<std::recursive_mutex> lock_;
};

/// The file of a handle; null when the MPI serves it.
[[nodiscard]] std::shared_ptr<File> find_file(MPI_File handle);
void add_file(std::shared_ptr<File> file);
void remove_file(MPI_File handle);
[[nodiscard]] std::vector<std::shared_ptr<File>> open_files();
/// The MPI serves the file, though all ranks that opened it run this library: they may agree on
/// hints for it.
[[nodiscard]] bool is_left_by_all(MPI_File handle);

/// Opens: called after the MPI has opened the file. Collective over `communicator`.
void register_file(MPI_Comm communicator, char const* name, int amode, FileHints hints,
                   MPI_File handle);

}  // namespace sluice
