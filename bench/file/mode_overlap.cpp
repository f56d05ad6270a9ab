// Mode overlap: how much of an operation's time hides behind computation, with no MPI call between
// its start and its wait unless --tests asks for some. The computation lasts as long as the
// operation alone, on every rank.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench/file/access.hpp"
#include "bench/measure/report.hpp"
#include "bench/measure/work.hpp"

namespace sluice::bench {
namespace {

constexpr double short_io = 0.01;  // a few time slices of the scheduler

/// One overlapped operation, each part on the rank that took longest.
struct Parts {
    double start = 0, compute = 0, wait = 0, total = 0;
    double compute_alone = 0;  ///< The same work just before, with no operation under way.

    [[nodiscard]] double stretched() const { return std::max(0.0, compute - compute_alone); }
};

/// What one side did over all repeats.
struct SideResult {
    double io_alone = 0;
    std::uint64_t iterations = 0;  ///< Of computing, to last as long.
    std::vector<double> start, compute, wait, total, compute_alone, hidden, hidden_simple, lost;

    void add(Parts const& parts) {
        double const called = parts.start + parts.wait;
        start.push_back(parts.start), compute.push_back(parts.compute);
        wait.push_back(parts.wait), total.push_back(parts.total);
        compute_alone.push_back(parts.compute_alone);
        // Work that came out shorter than the I/O cannot hide all of it: only the part that could
        // be hidden is judged.
        double const hideable = std::min(io_alone, parts.compute_alone);
        double const called_in_vain = std::max(0.0, called - (io_alone - hideable));
        lost.push_back(called_in_vain + parts.stretched());
        hidden.push_back(1 - lost.back() / hideable);
        hidden_simple.push_back(1 - called_in_vain / hideable);
    }
};

void sleep_ms(double ms) {
    timespec const t{time_t(ms / 1e3), long((ms - 1e3 * double(time_t(ms / 1e3))) * 1e6)};
    nanosleep(&t, nullptr);
}

class Overlap {
public:
    Overlap(Run& bench_run, std::string const& name, std::uint64_t bytes)
        : run_(bench_run),
          pattern_(run_, name, bytes),
          buffer_(pattern_.access_buffer()) {
        for (Side const side : run_.sides()) {
            auto& file = files_[std::size_t(side)] = std::make_unique<File>(run_, side);
            set_view(file->handle, 0, pattern_, Hints(run_, side).info);
            run_independent(side, true);  // the file exists, and reads find data
        }
    }

    void measure(bool writes);

private:
    [[nodiscard]] MPI_File file(Side side) const { return files_[std::size_t(side)]->handle; }

    void prepare(Side side, bool writes) {
        check(MPI_File_seek(file(side), 0, MPI_SEEK_SET), "MPI_File_seek");
        if (writes)
            pattern_.fill_access(buffer_, ++seed_of_[std::size_t(side)]);
        else
            std::fill(buffer_.begin(), buffer_.end(), untouched);
    }

    std::vector<MPI_Request> start(Side side, bool writes) {
        return start_access(file(side), pattern_, buffer_, writes);
    }

    double run_independent(Side side, bool writes) {
        prepare(side, writes);
        return time_together([&] {
            auto requests = start(side, writes);
            wait_for(requests);
        });
    }

    void compute_and_test(std::uint64_t iterations, std::vector<MPI_Request>& requests) const;
    Parts run_overlapped(Side side, bool writes, std::uint64_t iterations);
    void check_bytes(Side side, bool writes);
    void report(bool writes, Side side, SideResult const& result) const;

    Run& run_;
    Pattern pattern_;
    std::vector<double> buffer_;
    std::array<std::unique_ptr<File>, 2> files_;
    std::array<std::uint64_t, 2> seed_of_{};
    std::array<std::uint64_t, 2> wrong_{};
};

/// The computation in equal parts, with a test between two of them.
void Overlap::compute_and_test(std::uint64_t iterations, std::vector<MPI_Request>& requests) const {
    auto const tests = std::uint64_t(run_.options.tests);
    for (std::uint64_t i = 0; i < tests; ++i) {
        compute(iterations / (tests + 1));
        int done = 0;
        check(MPI_Testall(int(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    }
    compute(iterations - tests * (iterations / (tests + 1)));
}

Parts Overlap::run_overlapped(Side side, bool writes, std::uint64_t iterations) {
    Parts parts;
    parts.compute_alone = time_together([&] { compute(iterations); });
    prepare(side, writes);
    bool const late = run_.options.late_ms > 0 && run_.rank == run_.ranks - 1;
    start_together();
    double const begin = MPI_Wtime();
    if (late) sleep_ms(run_.options.late_ms);
    double const starting = MPI_Wtime();
    auto requests = start(side, writes);
    double const started = MPI_Wtime();
    compute_and_test(iterations, requests);
    double const computed = MPI_Wtime();
    wait_for(requests);
    double const end = MPI_Wtime();
    // Of interest is what the late rank does to the others: its own start is not counted.
    parts.start = max_over_ranks(late ? 0 : started - starting);
    parts.compute = max_over_ranks(computed - started);
    parts.wait = max_over_ranks(end - computed);
    parts.total = max_over_ranks(end - begin);
    return parts;
}

void Overlap::check_bytes(Side side, bool writes) {
    auto const i = std::size_t(side);
    if (writes) {
        check(MPI_File_sync(file(side)), "MPI_File_sync");
        wrong_[i] += wrong_bytes_in_file(run_.path[i], pattern_.file_bytes(), seed_of_[i],
                                         run_.rank, run_.ranks);
    } else {
        wrong_[i] += sum_over_ranks(pattern_.wrong_in_access(buffer_, seed_of_[i]));
    }
}

void Overlap::measure(bool writes) {
    auto const label = pattern_.name + (writes ? " write" : " read");
    wrong_ = {};
    auto const alone = measure_in_turn(
        run_, label + " alone", [&](Side side, int) { return run_independent(side, writes); });
    std::array<SideResult, 2> results;
    for (Side const side : run_.sides()) {
        auto& result = results[std::size_t(side)];
        result.io_alone = summary_of(alone[std::size_t(side)]).median;
        result.iterations = iterations_lasting(result.io_alone);
    }
    measure_in_turn(run_, label + " overlapped", [&](Side side, int repeat) {
        auto& result = results[std::size_t(side)];
        auto const parts = run_overlapped(side, writes, result.iterations);
        if (repeat >= 0) result.add(parts);
        check_bytes(side, writes);
        return parts.total;
    });
    for (Side const side : run_.sides()) report(writes, side, results[std::size_t(side)]);
    if (results[0].io_alone < short_io)
        run_.report->note("  (too short to hide: try more --bytes, or --dir on a sluice-device)");
    count_wrong(run_, wrong_);
}

void Overlap::report(bool writes, Side side, SideResult const& result) const {
    auto const middle = [](std::vector<double> const& values) { return summary_of(values).median; };
    auto const time = [&](std::vector<double> const& values) {
        return text_of_seconds(middle(values));
    };
    auto const percent = [](double share) { return text_of("%.0f %%", share * 100); };
    auto const hidden = summary_of(result.hidden);
    auto const wrong = wrong_[std::size_t(side)];
    bool const late = run_.options.late_ms > 0;  // then waiting is for the rank, not for the I/O
    char const* const who = side == Side::sluice ? "Sluice" : "peer";
    char const* const direction = writes ? "write" : "read";
    run_.report->row({pattern_.name + " " + direction, who, text_of_seconds(result.io_alone),
                      time(result.start), time(result.compute), time(result.compute_alone),
                      time(result.wait), time(result.total), time(result.lost),
                      late ? "-"
                           : percent(hidden.median) + " (" + percent(hidden.min) + " .. " +
                                 percent(hidden.max) + ")",
                      late ? "-" : percent(middle(result.hidden_simple)),
                      wrong == 0 ? "none" : std::to_string(wrong)});
    Json line;
    line.add("pattern", pattern_.name).add("direction", direction).add("side", who);
    line.add_integer("bytes_per_rank", pattern_.access_bytes()).add("unit", "s");
    line.add("late_ms", run_.options.late_ms).add("io_alone", result.io_alone);
    char const* const progress = std::getenv("SLUICE_PROGRESS");
    line.add("progress", progress ? progress : "thread");
    line.add_integer("tests", std::uint64_t(run_.options.tests));
    line.add("start", summary_of(result.start)).add("compute", summary_of(result.compute));
    line.add("compute_alone", summary_of(result.compute_alone));
    line.add("wait", summary_of(result.wait)).add("total", summary_of(result.total));
    line.add("lost", summary_of(result.lost)).add("hidden_strict", hidden);
    line.add("hidden_simple", summary_of(result.hidden_simple)).add_integer("wrong_bytes", wrong);
    run_.report->record("overlap", line);
}

}  // namespace

void mode_overlap(Run& run) {
    auto const names = patterns_of(run);
    auto& report = *run.report;
    report.table("overlap: start, compute as long as the I/O alone takes, wait",
                 {"what            ", "  side", "I/O alone", "  started", " computed", "...alone",
                  "   waited", "    total", "     lost", "   hidden (min .. max)", "  simple",
                  "  wrong"});
    expect_measurements(run, 2 * names.size() * run.options.directions.size());
    for (auto const& name : names) {
        {
            Overlap overlap(run, name, run.bytes());
            for (auto const& direction : run.options.directions)
                overlap.measure(direction == "write");
        }
        remove_files(run);
    }
    report.note(
        "hideable = the shorter of I/O alone and computed alone;\n"
        "lost = started + waited - (I/O alone - hideable) + (computed - computed alone, if "
        "longer);\n"
        "hidden = 1 - lost / hideable; simple leaves the stretched computation out. Medians; each "
        "part on its slowest rank.");
    if (run.options.late_ms > 0)
        report.note(
            text_of("The last rank began %g ms late; `started` is that of the others, `waited` "
                    "includes waiting for it.",
                    run.options.late_ms));
}

}  // namespace sluice::bench
