// Mode skew: ranks compute for times that are drawn by lot, and write together after each. A call
// that waits for all ranks makes each step as long as its slowest rank; one that does not lets the
// quick steps of a rank make up for its slow ones. How much of what skew costs does each kind of
// call absorb? It is the second motive of the paper on nonblocking collective I/O in MPICH. Ranks
// sleep instead of computing, so that whoever moves the data has a core.
#include "bench/file/access.hpp"
#include "bench/measure/report.hpp"
#include "study/file/options.hpp"

#include <chrono>
#include <deque>
#include <thread>

namespace sluice::bench {
namespace {

enum class Call { none, barrier, blocking, nonblocking };

struct SeriesWay {
    std::string name;
    Call call = Call::none;
    int outstanding = 0;  ///< Of nonblocking calls: so many at a time.
    std::vector<std::string> hints;
    std::vector<double> seconds;  ///< One entry a repeat.
    std::uint64_t wrong = 0;

    [[nodiscard]] bool writes() const { return call > Call::barrier; }
};

/// The first two are the bounds: nobody waits for anybody, and all wait for all in each step.
std::vector<SeriesWay> ways_of(Run const& run) {
    std::vector<SeriesWay> ways{{"no call", Call::none, 0, {}, {}, 0},
                                {"MPI_Barrier", Call::barrier, 0, {}, {}, 0}};
    auto const add = [&](std::string const& who, std::vector<std::string> const& hints) {
        ways.push_back({who + ", blocking", Call::blocking, 0, hints, {}, 0});
        for (int const limit : run.options.outstanding)
            ways.push_back({who + text_of(", nonblocking, %d at a time", limit),
                            Call::nonblocking,
                            limit,
                            hints,
                            {},
                            0});
    };
    add("Sluice", {});
    ways.push_back(
        {"Sluice, write-behind", Call::blocking, 0, {"sluice_write_behind=256M"}, {}, 0});
    if (!run.options.no_peer) add("the MPI", {"sluice=disable"});
    return ways;
}

/// From 0 to 1; the same for all ways of a repeat.
double drawn(int repeat, int rank, int step) {
    auto bits = (std::uint64_t(std::uint32_t(repeat)) << 40 | std::uint64_t(rank) << 20 |
                 std::uint64_t(step)) *
                0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return double((bits ^ (bits >> 31)) >> 11) / double(std::uint64_t{1} << 53);
}

/// Writes row after row, a step each, and ends with the close.
class Series {
public:
    Series(Run const& run, Pattern const& pattern, SeriesWay const& way, std::span<double> rows)
        : pattern_(pattern),
          way_(way),
          rows_(rows) {
        if (!way.writes()) return;
        Hints const hints(run.options.hints, way.hints);
        file_ = open_file(run.path[0], MPI_MODE_CREATE | MPI_MODE_WRONLY, hints.info);
        set_view(file_, 0, pattern, hints.info);
    }

    void step(int number) {
        auto const offset = MPI_Offset{number} * pattern_.words();
        double const* const row = &rows_[std::size_t(number) * pattern_.memory_words()];
        int const count = pattern_.memory_count();
        if (way_.call == Call::barrier) check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        if (way_.call == Call::blocking)
            check(MPI_File_write_at_all(file_, offset, row, count, pattern_.memory,
                                        MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all");
        if (way_.call != Call::nonblocking) return;
        if (int(under_way_.size()) == way_.outstanding) finish_oldest();
        under_way_.push_back(MPI_REQUEST_NULL);
        check(
            MPI_File_iwrite_at_all(file_, offset, row, count, pattern_.memory, &under_way_.back()),
            "MPI_File_iwrite_at_all");
    }

    void finish() {
        while (!under_way_.empty()) finish_oldest();
        if (way_.writes()) check(MPI_File_close(&file_), "MPI_File_close");
    }

private:
    void finish_oldest() {
        check(MPI_Wait(&under_way_.front(), MPI_STATUS_IGNORE), "MPI_Wait");
        under_way_.pop_front();
    }

    Pattern const& pattern_;
    SeriesWay const& way_;
    std::span<double> rows_;
    MPI_File file_ = MPI_FILE_NULL;
    std::deque<MPI_Request> under_way_;
};

class Bench {
public:
    Bench(Run& run, std::string const& name)
        : run_(run),
          pattern_(run, name, run.bytes()),
          rows_(pattern_.memory_words() * std::size_t(run.options.steps)),
          ways_(ways_of(run)) {}

    void measure() {
        take_turns(run_, pattern_.name, ways_.size(), [&](std::size_t i, int repeat) {
            double const seconds = once(ways_[i], repeat);
            if (repeat >= 0) ways_[i].seconds.push_back(seconds);
        });
        for (SeriesWay const& way : ways_) report(way);
    }

private:
    double once(SeriesWay& way, int repeat) {
        auto const seed = first_seed + std::uint64_t(repeat + run_.options.warmup);
        auto const words = pattern_.memory_words();
        for (int i = 0; i < run_.options.steps; ++i)
            pattern_.fill(&rows_[std::size_t(i) * words], seed, std::uint64_t(i));
        Series series(run_, pattern_, way, rows_);
        double const seconds = time_together([&] {
            for (int i = 0; i < run_.options.steps; ++i) {
                std::this_thread::sleep_for(
                    std::chrono::duration<double>(compute_seconds(repeat, i)));
                series.step(i);
            }
            series.finish();
        });
        if (!way.writes()) return seconds;
        way.wrong +=
            pattern_.wrong_in_file(run_, run_.path[0], seed, std::uint64_t(run_.options.steps));
        remove_file(run_, run_.path[0]);
        return seconds;
    }

    [[nodiscard]] double compute_seconds(int repeat, int step) const {
        double const skew = study_options().skew;
        return run_.options.compute * (1 - skew + 2 * skew * drawn(repeat, run_.rank, step));
    }

    /// Of what a barrier in each step costs, over the time of no calls at all: of each repeat.
    [[nodiscard]] std::vector<double> absorbed(SeriesWay const& way) const {
        std::vector<double> parts;
        for (std::size_t i = 0; i < way.seconds.size(); ++i) {
            double const least = ways_[0].seconds[i], most = ways_[1].seconds[i];
            if (most > least) parts.push_back((most - way.seconds[i]) / (most - least));
        }
        return parts;
    }

    void report(SeriesWay const& way) {
        auto const seconds = summary_of(way.seconds), part = summary_of(absorbed(way));
        run_.report->row(
            {pattern_.name + ": " + way.name, text_of_summary(seconds),
             text_of("%.0f %% (%.0f .. %.0f)", 100 * part.median, 100 * part.min, 100 * part.max),
             way.wrong == 0 ? "none" : std::to_string(way.wrong)});
        run_.wrong_bytes += way.wrong;
        Json result;
        result.add("pattern", pattern_.name).add("way", way.name).add("unit", "s");
        result.add_integer("bytes_per_rank", pattern_.bytes());
        result.add_integer("steps", std::uint64_t(run_.options.steps));
        result.add("compute", run_.options.compute).add("skew", study_options().skew);
        result.add("seconds", seconds).add("samples", way.seconds).add("absorbed", part);
        result.add_integer("wrong_bytes", way.wrong);
        run_.report->record("skew", result);
    }

    Run& run_;
    Pattern pattern_;
    std::vector<double> rows_;
    std::vector<SeriesWay> ways_;
};

}  // namespace

void mode_skew(Run& run) {
    auto const names = patterns_of(run);
    run.report->table(text_of("skew: %d steps of %g s, each %.0f %% shorter to %.0f %% longer by "
                              "lot, and a collective write",
                              run.options.steps, run.options.compute, 100 * study_options().skew,
                              100 * study_options().skew),
                      {"what                                            ",
                       "      median (min .. max)", "           absorbed", "wrong bytes"});
    expect_measurements(run, names.size());
    for (auto const& name : names) Bench(run, name).measure();
    run.report->note("absorbed: of the time that a barrier in each step costs, against no call at "
                     "all. Times are of the whole series, with the close.");
}

}  // namespace sluice::bench
