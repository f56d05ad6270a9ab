// Mode outstanding: a number of nonblocking collective operations on one file, at most K of them
// under way at a time. What does it bring to keep several in flight?
#include <algorithm>
#include <deque>
#include <memory>

#include "bench/file/access.hpp"
#include "bench/file/buffer.hpp"
#include "bench/file/contender.hpp"
#include "bench/file/patterns.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

/// Starts operation after operation, each on the next row of the view; waits for the oldest when
/// `limit` are under way. Offsets are explicit because MPICH 5.0.2 sets the file pointer back in
/// MPI_Wait: it would write to the wrong rows, and there would be nothing to compare.
void run_operations(MPI_File file, Pattern const& pattern, double* buffer, int operations,
                    int limit, bool writes) {
    std::deque<MPI_Request> under_way;
    auto const finish_oldest = [&] {
        check(MPI_Wait(&under_way.front(), MPI_STATUS_IGNORE), "MPI_Wait");
        under_way.pop_front();
    };
    int const count = pattern.memory_count();
    for (int i = 0; i < operations; ++i, buffer += pattern.memory_words()) {
        if (int(under_way.size()) == limit) finish_oldest();
        under_way.push_back(MPI_REQUEST_NULL);
        auto const offset = MPI_Offset{i} * pattern.words();
        auto* const request = &under_way.back();
        check(writes ? MPI_File_iwrite_at_all(file, offset, buffer, count, pattern.memory, request)
                     : MPI_File_iread_at_all(file, offset, buffer, count, pattern.memory, request),
              "starting an operation");
    }
    while (!under_way.empty()) finish_oldest();
}

class Bench {
public:
    Bench(Run& bench_run, std::string const& name, std::uint64_t bytes)
        : run_(bench_run),
          pattern_(run_, name, bytes_of_pattern(name, bytes)),
          buffer_(run_, pattern_.memory_words() * std::size_t(operations())) {
        for (Side const side : run_.sides()) open(side);
    }

    /// The MPI's own file gets the hints of the grid with which one operation at a time takes the
    /// shortest.
    void give_peer_best_hints(bool writes) {
        auto const label = pattern_.name + (writes ? " write" : " read");
        auto best = best_of_grid(run_, label, [&](auto const& hints, double) {
            run_.options.peer_hints = hints;
            open(Side::peer);
            std::uint64_t ignored = 0;  // What is measured with the best ones is checked.
            return writes ? write_once(Side::peer, 1, ignored) : read_once(Side::peer, 1, ignored);
        });
        run_.options.peer_hints = std::move(best);
        open(Side::peer);
    }

    Pair measure(bool writes, int limit) {
        Pair pair{"outstanding",
                  pattern_.name,
                  writes ? "write" : "read",
                  text_of("K=%d", limit),
                  pattern_.bytes() * std::uint64_t(operations()),
                  {},
                  {},
                  run_.options.peer_hints};
        auto const label = pair.pattern + " " + pair.direction + " " + pair.variant;
        pair.seconds = measure_in_turn(run_, label, [&](Side side, int) {
            auto& wrong = pair.wrong[std::size_t(side)];
            return writes ? write_once(side, limit, wrong) : read_once(side, limit, wrong);
        });
        return pair;
    }

    /// Reads need something to read, also when the writes were not asked for, or went wrong.
    void prepare_reads() {
        std::uint64_t ignored = 0;
        for (Side const side : run_.sides()) write_once(side, 1, ignored);
    }

private:
    /// Anew, where it was open: hints are of the open.
    void open(Side side) {
        auto& file = files_[std::size_t(side)];
        file.reset();
        file = std::make_unique<File>(run_, side);
        set_view(file->handle, 0, pattern_, Hints(run_, side).info);
    }

    [[nodiscard]] int operations() const { return run_.options.operations; }

    /// An operation is one row: flash has a share of the bytes in each of its rows anyhow.
    [[nodiscard]] std::uint64_t bytes_of_pattern(std::string const& name,
                                                 std::uint64_t bytes) const {
        return name == "flash" ? bytes : bytes / std::uint64_t(operations());
    }

    /// Of an operation, on the host.
    double* row(int i) { return buffer_.host().data() + std::size_t(i) * pattern_.memory_words(); }

    double timed(Side side, int limit, bool writes) {
        auto const file = files_[std::size_t(side)]->handle;
        buffer_.bring_to_memory();
        double* const memory = buffer_.memory().data();
        return time_together(
            [&] { run_operations(file, pattern_, memory, operations(), limit, writes); });
    }

    double write_once(Side side, int limit, std::uint64_t& wrong) {
        ++seed_;
        for (int i = 0; i < operations(); ++i) pattern_.fill(row(i), seed_, std::uint64_t(i));
        double const seconds = timed(side, limit, true);
        check(MPI_File_sync(files_[std::size_t(side)]->handle), "MPI_File_sync");
        wrong += pattern_.wrong_in_file(run_, run_.path[std::size_t(side)], seed_,
                                        std::uint64_t(operations()));
        seed_of_[std::size_t(side)] = seed_;
        return seconds;
    }

    double read_once(Side side, int limit, std::uint64_t& wrong) {
        std::ranges::fill(buffer_.host(), untouched);
        double const seconds = timed(side, limit, false);
        buffer_.bring_to_host();
        std::uint64_t wrong_here = 0;
        for (int i = 0; i < operations(); ++i)
            wrong_here +=
                pattern_.wrong_bytes(row(i), seed_of_[std::size_t(side)], std::uint64_t(i));
        wrong += sum_over_ranks(wrong_here);
        return seconds;
    }

    Run& run_;
    Pattern pattern_;
    Buffer buffer_;
    std::array<std::unique_ptr<File>, 2> files_;
    std::uint64_t seed_ = 0;
    std::array<std::uint64_t, 2> seed_of_{};  ///< Of what each file holds now.
};

}  // namespace

void mode_outstanding(Run& run) {
    auto const names = patterns_of(run);
    start_pair_table(run, text_of("outstanding: %d nonblocking operations, K at a time",
                                  run.options.operations));
    auto const tried = run.options.best_hints ? hint_grid(run.ranks).size() : 0;
    auto const cases = names.size() * run.options.directions.size();
    expect_measurements(run, cases * run.options.outstanding.size(), cases * tried);
    for (auto const& name : names) {
        {
            Bench bench(run, name, run.bytes());
            for (auto const& direction : run.options.directions) {
                if (direction == "read") bench.prepare_reads();
                if (run.options.best_hints) bench.give_peer_best_hints(direction == "write");
                for (int const limit : run.options.outstanding)
                    report_pair(run, bench.measure(direction == "write", limit));
            }
        }
        remove_files(run);
    }
}

}  // namespace sluice::bench
