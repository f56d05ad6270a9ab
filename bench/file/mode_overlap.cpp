// Mode overlap: how much of an operation's time hides behind computation, with no MPI call between
// its start and its wait unless --tests asks for some. The computation lasts as long as the
// operation alone, on every rank, and is of its processor, with messages to its neighbours or
// without, or of its GPU.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/file/background.hpp"
#include "bench/gpu/busy_kernel.hpp"
#include "bench/measure/report.hpp"
#include "bench/measure/work.hpp"

namespace sluice::bench {
namespace {

constexpr double short_io = 0.01;  // a few time slices of the scheduler

/// Seconds that a clock of processor time shows; 0 where there is none.
double seconds_of(clockid_t clock) {
    timespec t{};
    return clock_gettime(clock, &t) == 0 ? double(t.tv_sec) + 1e-9 * double(t.tv_nsec) : 0;
}

/// Processor time that is not the computation's: of all ranks' other threads, and of the process
/// that emulates the device, which a real one does not have.
struct Processors {
    double threads = 0, server = 0;

    /// What was used so far.
    static Processors now(int server) {
        clockid_t clock{};
        bool const known = server > 0 && clock_getcpuclockid(server, &clock) == 0;
        return {seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID),
                known ? seconds_of(clock) : 0};
    }
};

/// One overlapped operation, each part on the rank that took longest.
struct Parts {
    double start = 0, compute = 0, wait = 0, total = 0;
    double compute_alone = 0;  ///< The same work just before, with no operation under way.
    Processors used;

    [[nodiscard]] double stretched() const { return std::max(0.0, compute - compute_alone); }
};

/// What one contender did over all repeats.
struct Result {
    double io_alone = 0;
    std::uint64_t iterations = 0;  ///< Of computing, to last as long.
    std::vector<double> alone;
    std::vector<double> start, compute, wait, total, compute_alone, hidden, hidden_simple, lost;
    std::vector<double> shorter, slower, threads, server;
    std::uint64_t wrong = 0;

    void add(Parts const& parts) {
        double const called = parts.start + parts.wait;
        start.push_back(parts.start), compute.push_back(parts.compute);
        wait.push_back(parts.wait), total.push_back(parts.total);
        compute_alone.push_back(parts.compute_alone);
        threads.push_back(parts.used.threads), server.push_back(parts.used.server);
        slower.push_back(parts.compute / parts.compute_alone - 1);
        shorter.push_back(1 - parts.total / (io_alone + parts.compute_alone));
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
          work_(work_of(run_)) {
        for (Side const side : run_.sides())
            contenders_.push_back(mpi_background(run_, pattern_, side));
        if (run_.options.in_thread && run_.threads)
            contenders_.push_back(thread_background(run_, pattern_));
        if (run_.options.ideal) contenders_.push_back(ideal_background(run_, pattern_));
        for (auto const& contender : contenders_)
            run_alone(*contender, true);  // the file exists, and reads find data
    }

    void measure(bool writes);

private:
    static double run_alone(Background& contender, bool writes) {
        contender.prepare(writes);
        return time_together([&] {
            contender.start(writes);
            contender.wait();
        });
    }

    static Work work_of(Run const& run) {
        if (run.options.computation == "host") return compute;
        if (run.options.computation == "halos") return with_halos(run.options.halo);
        auto const kernel = std::make_shared<BusyKernel const>(*run.gpu);
        return [kernel](std::uint64_t iterations) { kernel->run(iterations); };
    }

    void compute_and_test(std::uint64_t iterations, Background& contender) const;
    Parts run_overlapped(Background& contender, bool writes, std::uint64_t iterations) const;
    void report(bool writes, Background const& contender, Result const& result) const;
    void record(bool writes, Background const& contender, Result const& result) const;

    Run& run_;
    Pattern pattern_;
    Work work_;
    std::vector<std::unique_ptr<Background>> contenders_;
};

/// The computation in equal parts, with a test between two of them.
void Overlap::compute_and_test(std::uint64_t iterations, Background& contender) const {
    auto const tests = std::uint64_t(run_.options.tests);
    for (std::uint64_t i = 0; i < tests; ++i) {
        work_(iterations / (tests + 1));
        contender.test();
    }
    work_(iterations - tests * (iterations / (tests + 1)));
}

Parts Overlap::run_overlapped(Background& contender, bool writes, std::uint64_t iterations) const {
    Parts parts;
    parts.compute_alone = time_together([&] { work_(iterations); });
    contender.prepare(writes);
    bool const late = run_.options.late_ms > 0 && run_.rank == run_.ranks - 1;
    int const server = run_.rank == 0 ? run_.options.server : 0;
    start_together();
    auto const before = Processors::now(server);
    double const begin = MPI_Wtime();
    if (late) sleep_ms(run_.options.late_ms);
    double const starting = MPI_Wtime();
    contender.start(writes);
    double const started = MPI_Wtime();
    compute_and_test(iterations, contender);
    double const computed = MPI_Wtime();
    contender.wait();
    double const end = MPI_Wtime();
    auto const after = Processors::now(server);
    // Of interest is what the late rank does to the others: its own start is not counted.
    parts.start = max_over_ranks(late ? 0 : started - starting);
    parts.compute = max_over_ranks(computed - started);
    parts.wait = max_over_ranks(end - computed);
    parts.total = max_over_ranks(end - begin);
    parts.used = {total_over_ranks(after.threads - before.threads),
                  total_over_ranks(after.server - before.server)};
    return parts;
}

void Overlap::measure(bool writes) {
    auto const label = pattern_.name + (writes ? " write" : " read");
    std::vector<Result> results(contenders_.size());
    take_turns(run_, label + " alone", contenders_.size(), [&](std::size_t i, int repeat) {
        double const seconds = run_alone(*contenders_[i], writes);
        if (repeat >= 0) results[i].alone.push_back(seconds);
    });
    for (auto& result : results) {
        result.io_alone = summary_of(result.alone).median;
        result.iterations = iterations_lasting(result.io_alone, work_);
    }
    take_turns(run_, label + " overlapped", contenders_.size(), [&](std::size_t i, int repeat) {
        auto const parts = run_overlapped(*contenders_[i], writes, results[i].iterations);
        if (repeat >= 0) results[i].add(parts);
        results[i].wrong += contenders_[i]->wrong_bytes(writes);
    });
    for (std::size_t i = 0; i < results.size(); ++i) report(writes, *contenders_[i], results[i]);
    if (results[0].io_alone < short_io)
        run_.report->note("  (too short to hide: try more --bytes, or --dir on a sluice-device)");
    bool const both = !run_.options.no_peer;
    count_wrong(run_, {results[0].wrong, both ? results[1].wrong : 0});
    if (run_.options.ideal) run_.wrong_bytes += results.back().wrong;
}

double middle(std::vector<double> const& values) { return summary_of(values).median; }
std::string percent(double share) { return text_of("%.0f %%", share * 100); }

void Overlap::report(bool writes, Background const& contender, Result const& result) const {
    auto const time = [&](std::vector<double> const& values) {
        return text_of_seconds(middle(values));
    };
    auto const hidden = summary_of(result.hidden);
    bool const late = run_.options.late_ms > 0;  // then waiting is for the rank, not for the I/O
    run_.report->row({pattern_.name + (writes ? " write" : " read"), contender.name,
                      text_of_seconds(result.io_alone), time(result.start), time(result.compute),
                      time(result.compute_alone), percent(middle(result.slower)), time(result.wait),
                      time(result.total), time(result.lost), time(result.threads),
                      time(result.server),
                      late ? "-"
                           : percent(hidden.median) + " (" + percent(hidden.min) + " .. " +
                                 percent(hidden.max) + ")",
                      late ? "-" : percent(middle(result.hidden_simple)),
                      late ? "-" : percent(middle(result.shorter)),
                      result.wrong == 0 ? "none" : std::to_string(result.wrong)});
    record(writes, contender, result);
}

void Overlap::record(bool writes, Background const& contender, Result const& result) const {
    Json line;
    line.add("pattern", pattern_.name).add("direction", writes ? "write" : "read");
    line.add("side", contender.name);
    line.add_integer("bytes_per_rank", pattern_.access_bytes()).add("unit", "s");
    line.add("computation", run_.options.computation);
    if (run_.options.computation == "halos") line.add_integer("halo", run_.options.halo);
    line.add("late_ms", run_.options.late_ms).add("io_alone", result.io_alone);
    char const* const settings = std::getenv("SLUICE_TEST");
    bool const has_helper = !settings || !std::strstr(settings, "helper=off");
    line.add("progress", has_helper ? "thread" : "tests");
    line.add_integer("tests", std::uint64_t(run_.options.tests));
    line.add("start", summary_of(result.start)).add("compute", summary_of(result.compute));
    line.add("compute_alone", summary_of(result.compute_alone));
    line.add("wait", summary_of(result.wait)).add("total", summary_of(result.total));
    line.add("lost", summary_of(result.lost)).add("hidden_strict", summary_of(result.hidden));
    line.add("hidden_simple", summary_of(result.hidden_simple));
    line.add("shorter", summary_of(result.shorter)).add("slower", summary_of(result.slower));
    line.add("processors_threads", summary_of(result.threads));
    if (run_.options.server > 0) line.add("processors_server", summary_of(result.server));
    line.add_integer("wrong_bytes", result.wrong);
    run_.report->record("overlap", line);
}

}  // namespace

void mode_overlap(Run& run) {
    auto const names = patterns_of(run);
    auto& report = *run.report;
    if (run.options.in_thread && !run.threads)
        report.note("Without MPI_THREAD_MULTIPLE no thread can make the calls.");
    report.table("overlap: start, compute as long as the I/O alone takes, wait",
                 {"what            ", "  side", "I/O alone", "  started", " computed", "...alone",
                  "slower", "   waited", "    total", "     lost", "  threads", "   server",
                  "   hidden (min .. max)", "  simple", " shorter", "  wrong"});
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
        "slower = computed / computed alone - 1, of each repeat;\n"
        "hidden = 1 - lost / hideable; simple leaves the stretched computation out. Medians; each "
        "part on its slowest rank.\n"
        "shorter = 1 - total / (I/O alone + computed alone): the whole run.\n"
        "threads, server: processor time beside the computation, of all ranks' other threads and "
        "of the process --server.");
    if (run.options.late_ms > 0)
        report.note(
            text_of("The last rank began %g ms late; `started` is that of the others, `waited` "
                    "includes waiting for it.",
                    run.options.late_ms));
}

}  // namespace sluice::bench
