// Read-ahead: while the program computes, the bytes that its next blocking collective read will
// want are read into memory of the library. A ReadAhead guesses for one open file: the next request
// is the last one, as far behind it in the file as that was behind the one before, or else behind
// the bytes of all ranks. What was read is handed over only where all ranks guessed right.
#pragma once
#include "file/plan/plan_cache.hpp"
#include "file/run/operation.hpp"
#include "system/bounded_memory.hpp"

#include <atomic>
#include <ctime>
#include <memory>
#include <optional>

namespace sluice {

class File;

struct AheadStatistics {
    std::int64_t hits = 0, misses = 0;
};

class ReadAhead {
public:
    /// `fd` is of the file. `node_bytes`: of memory, for all files and ranks of a node; 0: nothing
    /// is read ahead.
    ReadAhead(int fd, Bytes node_bytes) noexcept : fd_(fd), node_bytes_(node_bytes) {}

    /// Equal on all ranks: each collective read then begins with take() and ends with prepare().
    [[nodiscard]] bool on() const noexcept { return node_bytes_ > 0 && misses_in_a_row_ < 2; }
    /// A blocking collective read: where all ranks have read just these bytes ahead, copies them to
    /// the program's memory and returns the operation that read them; null where the call has to
    /// read. `fits`: this rank's arguments are right and its bytes need no conversion. Collective,
    /// blocks.
    [[nodiscard]] std::shared_ptr<Operation> take(File& file, Call const& call, bool fits);
    /// After a blocking collective read of `request`, whose ranks together touched `all`: begins to
    /// read ahead. Collective; returns at once.
    void prepare(File& file, Request const& request, Span all);

    /// What was read ahead may have changed. Any thread.
    void drop(Span changed) noexcept;

    [[nodiscard]] AheadStatistics const& statistics() const noexcept { return statistics_; }

private:
    /// What tells that somebody changed the file.
    struct Stamp {
        std::timespec changed{};
        Bytes bytes = -1;  ///< -1: not known, or changed just now: a change might not show.
    };
    struct Prepared {
        Request request;
        PlanKey key;
        BoundedMemory::Part memory;
        Stamp stamp;
        std::shared_ptr<Operation> operation;
    };

    [[nodiscard]] Stamp stamp() const noexcept;
    [[nodiscard]] std::optional<Request> guess(Request const& request, Span all) const;
    [[nodiscard]] bool is_right(File& file, Prepared const& prepared, Call const& call) const;

    int fd_;
    Bytes node_bytes_;
    int misses_in_a_row_ = 0;
    std::optional<PlanKey> last_;  ///< The read before.
    std::optional<Offset> step_;   ///< From the one before that.
    std::optional<Prepared> prepared_;
    std::atomic<bool> dropped_{false};
    AheadStatistics statistics_;
};

}  // namespace sluice
