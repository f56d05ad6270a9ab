// Read-ahead: while the program computes, the bytes that its next blocking collective reads will
// want are read into memory of the library. A ReadAhead decides for one open file how many reads
// are made ahead, as far as all ranks' ReadSequences foretell them. What was read is handed over
// only where all ranks have foretold right.
#pragma once
#include "file/plan/read_sequence.hpp"
#include "file/run/operation.hpp"
#include "system/bounded_memory.hpp"

#include <atomic>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

class File;

struct AheadStatistics {
    std::int64_t hits = 0, misses = 0;
};

class ReadAhead {
public:
    /// `fd` is of the file. `rank_bytes`: of memory, for all files of this rank; 0: nothing
    /// is read ahead.
    ReadAhead(int fd, Bytes rank_bytes) noexcept : fd_(fd), rank_bytes_(rank_bytes) {}

    /// Equal on all ranks: each collective read then begins with take() and ends with prepare().
    [[nodiscard]] bool on() const noexcept { return rank_bytes_ > 0; }
    /// A blocking collective read: where all ranks have read just these bytes ahead, copies them to
    /// the program's memory and returns the operation that read them; null where the call has to
    /// read, and to tell the other ranks what follows. `fits`: this rank's arguments are right and
    /// its bytes need no conversion. `error`: why this rank's copy failed. Collective, blocks.
    [[nodiscard]] std::shared_ptr<Operation> take(File& file, Call& call, bool fits, Error& error);
    /// After a blocking collective read, whose summary of all ranks this is: begins to read ahead.
    /// `was_ahead`: take() found it. Collective; returns at once.
    void prepare(File& file, Summary const& all, bool was_ahead);

    /// The file is closed, and no operation is under way: gives back all memory.
    void clear() noexcept;
    /// What was read ahead may have changed. Any thread.
    void drop(Span changed) noexcept;

    /// Whether it is one of those that read ahead: their memory is the library's.
    [[nodiscard]] bool has(Operation const& operation) const noexcept;

    [[nodiscard]] AheadStatistics const& statistics() const noexcept { return statistics_; }

private:
    /// What tells that somebody changed the file.
    struct Stamp {
        std::timespec changed{};
        Bytes bytes = -1;  ///< -1: not known, or changed just now: a change might not show.
    };
    struct Prepared {
        Request request;
        BoundedMemory::Part memory;
        Stamp stamp;
        std::shared_ptr<Operation> operation;
    };

    [[nodiscard]] Stamp stamp() const noexcept;
    [[nodiscard]] Bytes file_bytes() const noexcept;
    [[nodiscard]] int count_foretold() const;
    [[nodiscard]] std::optional<Request> guess(int ahead, Span all) const;
    void prepare_one(File& file, std::optional<Request> const& next);
    [[nodiscard]] bool is_right(File& file, Prepared const& prepared, Call const& call) const;
    void give_up();
    void forget_ended();

    int fd_;
    Bytes rank_bytes_;
    ReadSequence sequence_;
    int depth_ = 1;  ///< Reads that are made ahead at once; more, as long as they are right.
    int misses_in_a_row_ = 0;
    int foretold_ = 0;                ///< By all ranks, at the last read, if it was made ahead.
    std::deque<Prepared> prepared_;   ///< In the order of the reads.
    std::vector<Prepared> given_up_;  ///< Operations that still use their memory.
    std::atomic<bool> dropped_{false};
    AheadStatistics statistics_;
};

}  // namespace sluice
