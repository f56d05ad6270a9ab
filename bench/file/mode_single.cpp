// Modes blocking, nonblocking and independent: one access through a file view, by collective calls,
// by nonblocking collective calls that are waited for at once, or by calls of each rank alone.
#include <algorithm>
#include <memory>

#include "bench/file/access.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint64_t first_seed = 1000;  // leaves room below for the warm-up's negative repeats

enum class Kind { blocking, nonblocking, alone, alone_nonblocking };

/// What results are called: the mode, and within it the variant.
struct Way {
    Kind kind;
    char const* mode;
    char const* variant;
};

/// Two files with the same view, and the buffer that both use.
struct Bed {
    Bed(Run& bench_run, std::string const& pattern_name)
        : run(bench_run),
          pattern(run, pattern_name, run.bytes()),
          buffer(pattern.access_buffer()) {
        for (Side const side : run.sides()) {
            auto& file = files[std::size_t(side)] = std::make_unique<File>(run, side);
            Hints const hints(run, side);
            set_view(file->handle, 0, pattern, hints.info);
        }
    }

    double timed(Kind kind, Side side, bool writes) {
        auto* const file = files[std::size_t(side)]->handle;
        check(MPI_File_seek(file, 0, MPI_SEEK_SET), "MPI_File_seek");
        return time_together([&] {
            if (kind == Kind::blocking) return run_access(file, pattern, buffer, writes);
            if (kind != Kind::nonblocking)
                return run_independent(file, pattern, buffer, writes, kind == Kind::alone);
            auto requests = start_access(file, pattern, buffer, writes);
            wait_for(requests);
        });
    }

    double write(Kind kind, Side side, std::uint64_t seed) {
        pattern.fill_access(buffer, seed);
        return timed(kind, side, true);
    }

    double read(Kind kind, Side side) {
        std::fill(buffer.begin(), buffer.end(), untouched);
        return timed(kind, side, false);
    }

    std::uint64_t wrong_in_file(Side side, std::uint64_t seed) {
        check(MPI_File_sync(files[std::size_t(side)]->handle), "MPI_File_sync");
        return wrong_bytes_in_file(run.path[std::size_t(side)], pattern.file_bytes(), seed,
                                   run.rank, run.ranks);
    }

    Run& run;
    Pattern pattern;
    std::vector<double> buffer;
    std::array<std::unique_ptr<File>, 2> files;
};

Pair measure_write(Bed& bed, Way const& way) {
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

Pair measure_read(Bed& bed, Way const& way) {
    auto& run = bed.run;
    Pair pair{way.mode, bed.pattern.name, "read", way.variant, bed.pattern.access_bytes(), {}, {}};
    for (Side const side : run.sides()) {
        bed.write(Kind::blocking, side, first_seed);
        pair.wrong[std::size_t(side)] = bed.wrong_in_file(side, first_seed);
    }
    pair.seconds = measure_in_turn(run, pair.pattern + " read", [&](Side side, int) {
        double const seconds = bed.read(way.kind, side);
        pair.wrong[std::size_t(side)] +=
            sum_over_ranks(bed.pattern.wrong_in_access(bed.buffer, first_seed));
        return seconds;
    });
    return pair;
}

void measure(Run& run, char const* title, std::vector<Way> const& ways) {
    auto const names = patterns_of(run);
    start_pair_table(run, title);
    expect_measurements(run, names.size() * run.options.directions.size() * ways.size());
    for (auto const& name : names) {
        {
            Bed bed(run, name);
            for (auto const& direction : run.options.directions)
                for (auto const& way : ways)
                    report_pair(run, direction == "write" ? measure_write(bed, way)
                                                          : measure_read(bed, way));
        }
        remove_files(run);
    }
}

}  // namespace

void mode_blocking(Run& run) {
    measure(run, "blocking: one collective call through a view",
            {{Kind::blocking, "blocking", ""}});
}

void mode_nonblocking(Run& run) {
    measure(run, "nonblocking: one collective call through a view, waited for at once",
            {{Kind::nonblocking, "nonblocking", ""}});
}

void mode_independent(Run& run) {
    measure(run, "independent: each rank by itself, through a view",
            {{Kind::alone, "independent", "at"}, {Kind::alone_nonblocking, "independent", "iat"}});
}

}  // namespace sluice::bench
