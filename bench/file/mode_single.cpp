// Modes blocking, nonblocking and independent: one access through a file view, by collective calls,
// by nonblocking collective calls that are waited for at once, or by calls of each rank alone.
//
// Mode nonblocking compares each side with itself, as the papers of MPICH (row M5) and libNBC (L5)
// do: what does it cost that a call need not block, where a program has nothing to do meanwhile?
#include <algorithm>
#include <memory>
#include <numeric>

#include "bench/file/access.hpp"
#include "bench/file/buffer.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

enum class Kind { blocking, nonblocking, alone, alone_nonblocking };

/// What results are called: the mode, and within it the variant.
struct NamedKind {
    Kind kind;
    char const* mode;
    char const* variant;
};

/// Two files with the same view, and the buffer that both use.
struct Bed {
    Bed(Run& bench_run, std::string const& pattern_name)
        : run(bench_run),
          pattern(run, pattern_name, run.bytes()),
          buffer(run, pattern.access_words()) {
        for (Side const side : run.sides()) {
            auto& file = files[std::size_t(side)] = std::make_unique<File>(run, side);
            Hints const hints(run, side);
            set_view(file->handle, 0, pattern, hints.info);
        }
    }

    double timed(Kind kind, Side side, bool writes) {
        auto* const file = files[std::size_t(side)]->handle;
        check(MPI_File_seek(file, 0, MPI_SEEK_SET), "MPI_File_seek");
        buffer.bring_to_memory();
        auto const memory = buffer.memory();
        return time_together([&] {
            if (kind == Kind::blocking) return run_access(file, pattern, memory, writes);
            if (kind != Kind::nonblocking)
                return run_independent(file, pattern, memory, writes, kind == Kind::alone);
            auto requests = start_access(file, pattern, memory, writes);
            wait_for(requests);
        });
    }

    double write(Kind kind, Side side, std::uint64_t seed) {
        pattern.fill_access(buffer.host(), seed);
        return timed(kind, side, true);
    }

    double read(Kind kind, Side side) {
        std::ranges::fill(buffer.host(), untouched);
        return timed(kind, side, false);
    }

    std::uint64_t wrong_in_file(Side side, std::uint64_t seed) {
        check(MPI_File_sync(files[std::size_t(side)]->handle), "MPI_File_sync");
        return pattern.wrong_in_file(run, run.path[std::size_t(side)], seed);
    }

    std::uint64_t wrong_in_memory() {
        buffer.bring_to_host();
        return sum_over_ranks(pattern.wrong_in_access(buffer.host(), first_seed));
    }

    Run& run;
    Pattern pattern;
    Buffer buffer;
    std::array<std::unique_ptr<File>, 2> files;
};

Pair measure_write(Bed& bed, NamedKind const& way) {
    auto& run = bed.run;
    Pair pair{way.mode, bed.pattern.name, "write", way.variant, bed.pattern.access_bytes(), {}, {}};
    pair.seconds = measure_in_turn(run, pair.pattern + " write", [&](Side side, int repeat) {
        return bed.write(way.kind, side, first_seed + std::uint64_t(repeat + run.options.warmup));
    });
    auto const last_seed = first_seed + std::uint64_t(run.options.repeat + run.options.warmup - 1);
    for (Side const side : run.sides())
        pair.wrong[std::size_t(side)] = bed.wrong_in_file(side, last_seed);
    return pair;
}

Pair measure_read(Bed& bed, NamedKind const& way) {
    auto& run = bed.run;
    Pair pair{way.mode, bed.pattern.name, "read", way.variant, bed.pattern.access_bytes(), {}, {}};
    for (Side const side : run.sides()) {
        bed.write(Kind::blocking, side, first_seed);
        pair.wrong[std::size_t(side)] = bed.wrong_in_file(side, first_seed);
    }
    pair.seconds = measure_in_turn(run, pair.pattern + " read", [&](Side side, int) {
        double const seconds = bed.read(way.kind, side);
        pair.wrong[std::size_t(side)] += bed.wrong_in_memory();
        return seconds;
    });
    return pair;
}

/// Calls `measure(bed, writes)` for each pattern and direction, which measures `ways` times.
template <class Measure> void measure_each(Run& run, std::size_t ways, Measure const& measure) {
    auto const names = patterns_of(run);
    expect_measurements(run, names.size() * run.options.directions.size() * ways);
    for (auto const& name : names) {
        {
            Bed bed(run, name);
            for (auto const& direction : run.options.directions) measure(bed, direction == "write");
        }
        remove_files(run);
    }
}

void measure(Run& run, char const* title, std::vector<NamedKind> const& ways) {
    start_pair_table(run, title);
    measure_each(run, ways.size(), [&](Bed& bed, bool writes) {
        for (auto const& way : ways)
            report_pair(run, writes ? measure_write(bed, way) : measure_read(bed, way));
    });
}

double mean_of(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// MiB a second of all ranks, by repeat, of one side's calls.
struct Rates {
    std::vector<double> blocking, nonblocking;

    [[nodiscard]] double ratio_of_means() const { return mean_of(nonblocking) / mean_of(blocking); }
    /// Of each repeat, which has one of both.
    [[nodiscard]] Summary ratio() const {
        std::vector<double> ratios;
        for (std::size_t k = 0; k < blocking.size(); ++k)
            ratios.push_back(nonblocking[k] / blocking[k]);
        return summary_of(ratios);
    }
};

std::string text_of_rates(std::vector<double> const& rates) {
    auto const ends = summary_of(rates);
    return text_of("%.0f (%.0f .. %.0f)", mean_of(rates), ends.min, ends.max);
}

/// The same access by blocking and by nonblocking calls in turn, of one side.
class WaitedAtOnce {
public:
    WaitedAtOnce(Bed& bed, bool writes) : bed_(bed), writes_(writes) {}

    void measure() {
        auto& run = bed_.run;
        if (!writes_)
            for (Side const side : run.sides()) bed_.write(Kind::blocking, side, first_seed);
        measure_in_turn(run, label(), [&](Side side, int repeat) {
            // Whichever comes second finds the caches as the first one left them.
            bool const odd = repeat % 2 != 0;
            double const first = one(side, odd, repeat), second = one(side, !odd, repeat);
            return first + second;
        });
        for (Side const side : run.sides()) {
            print(side);
            record(side);
        }
        count_wrong(run, wrong_);
    }

private:
    [[nodiscard]] std::string label() const {
        return bed_.pattern.name + (writes_ ? " write" : " read");
    }

    double one(Side side, bool nonblocking, int repeat) {
        auto const kind = nonblocking ? Kind::nonblocking : Kind::blocking;
        auto const i = std::size_t(side);
        auto const seed = first_seed + std::uint64_t(repeat + bed_.run.options.warmup);
        double const seconds = writes_ ? bed_.write(kind, side, seed) : bed_.read(kind, side);
        wrong_[i] += writes_ ? bed_.wrong_in_file(side, seed) : bed_.wrong_in_memory();
        auto& rates = nonblocking ? rates_[i].nonblocking : rates_[i].blocking;
        if (repeat >= 0)
            rates.push_back(mib_per_second(bed_.run, bed_.pattern.access_bytes(), seconds));
        return seconds;
    }

    [[nodiscard]] static char const* name_of(Side side) {
        return side == Side::sluice ? "Sluice" : "peer";
    }

    void print(Side side) const {
        auto const& rates = rates_[std::size_t(side)];
        auto const wrong = wrong_[std::size_t(side)];
        auto const ratio = rates.ratio();
        bed_.run.report->row({label(), name_of(side), text_of_bytes(bed_.pattern.access_bytes()),
                              text_of_rates(rates.blocking), text_of_rates(rates.nonblocking),
                              text_of("%.3f", rates.ratio_of_means()),
                              text_of("%.3f (%.3f .. %.3f)", ratio.median, ratio.min, ratio.max),
                              wrong == 0 ? "none" : std::to_string(wrong)});
    }

    void record(Side side) const {
        auto const& rates = rates_[std::size_t(side)];
        Json line;
        line.add("pattern", bed_.pattern.name).add("direction", writes_ ? "write" : "read");
        line.add("side", name_of(side));
        line.add_integer("bytes_per_rank", bed_.pattern.access_bytes()).add("unit", "MiB/s");
        line.add("blocking", rates.blocking).add("nonblocking", rates.nonblocking);
        line.add("ratio_of_means", rates.ratio_of_means()).add("ratio", rates.ratio());
        line.add_integer("wrong_bytes", wrong_[std::size_t(side)]);
        bed_.run.report->record("nonblocking", line);
    }

    Bed& bed_;
    bool writes_;
    std::array<Rates, 2> rates_;
    std::array<std::uint64_t, 2> wrong_{};
};

}  // namespace

void mode_blocking(Run& run) {
    measure(run, "blocking: one collective call through a view",
            {{Kind::blocking, "blocking", ""}});
}

void mode_nonblocking(Run& run) {
    run.report->table("nonblocking: one collective call through a view, waited for at once",
                      {"what                    ", "  side", " bytes/rank",
                       "blocking MiB/s: mean (min .. max)", "nonblocking: mean (min .. max)",
                       "of means", "  in turn: median (min .. max)", "wrong bytes"});
    measure_each(run, 1, [](Bed& bed, bool writes) { WaitedAtOnce(bed, writes).measure(); });
    run.report->note(
        "of means = mean bandwidth of the nonblocking calls over that of the blocking ones; in "
        "turn = the same\nof each repeat, which has one of both.");
}

void mode_independent(Run& run) {
    measure(run, "independent: each rank by itself, through a view",
            {{Kind::alone, "independent", "at"}, {Kind::alone_nonblocking, "independent", "iat"}});
}

}  // namespace sluice::bench
