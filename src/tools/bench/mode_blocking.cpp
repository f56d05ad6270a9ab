// Mode blocking: one MPI_File_write_all or MPI_File_read_all through a file view.
#include <algorithm>
#include <memory>

#include "patterns.hpp"
#include "report.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint64_t first_seed = 1000;  // leaves room below for the warm-up's negative repeats

/// Two files with the same view, and the buffer that both use.
struct Bed {
    Bed(Run& bench_run, std::string const& pattern_name, std::uint64_t bytes)
        : run(bench_run),
          pattern(pattern_name, bytes, run.options.piece, run.rank, run.ranks),
          buffer(std::size_t(pattern.words())) {
        for (Side const side : run.sides()) {
            auto& file = files[std::size_t(side)] = std::make_unique<File>(run, side);
            Hints const hints(run, side);
            check(MPI_File_set_view(file->handle, 0, MPI_DOUBLE, pattern.filetype, "native",
                                    hints.info),
                  "MPI_File_set_view");
        }
    }

    MPI_File file(Side side) const { return files[std::size_t(side)]->handle; }

    double write(Side side, std::uint64_t seed) {
        pattern.fill(buffer.data(), seed);
        check(MPI_File_seek(file(side), 0, MPI_SEEK_SET), "MPI_File_seek");
        return time_together([&] {
            check(MPI_File_write_all(file(side), buffer.data(), pattern.words(), MPI_DOUBLE,
                                     MPI_STATUS_IGNORE),
                  "MPI_File_write_all");
        });
    }

    double read(Side side) {
        std::fill(buffer.begin(), buffer.end(), -1.0);
        check(MPI_File_seek(file(side), 0, MPI_SEEK_SET), "MPI_File_seek");
        return time_together([&] {
            check(MPI_File_read_all(file(side), buffer.data(), pattern.words(), MPI_DOUBLE,
                                    MPI_STATUS_IGNORE),
                  "MPI_File_read_all");
        });
    }

    std::uint64_t wrong_in_file(Side side, std::uint64_t seed) {
        check(MPI_File_sync(file(side)), "MPI_File_sync");
        return wrong_bytes_in_file(run.path[std::size_t(side)], pattern.row_bytes, seed, run.rank,
                                   run.ranks);
    }

    Run& run;
    Pattern pattern;
    std::vector<double> buffer;
    std::array<std::unique_ptr<File>, 2> files;
};

Pair measure_write(Bed& bed) {
    auto& run = bed.run;
    Pair pair{"blocking", bed.pattern.name, "write", "", bed.pattern.bytes(), {}, {}};
    pair.seconds = measure_in_turn(run, pair.pattern + " write", [&](Side side, int repeat) {
        return bed.write(side, first_seed + std::uint64_t(repeat + run.options.warmup));
    });
    auto const last_seed = first_seed + std::uint64_t(run.options.repeat + run.options.warmup - 1);
    for (Side const side : run.sides())
        pair.wrong[std::size_t(side)] = bed.wrong_in_file(side, last_seed);
    return pair;
}

Pair measure_read(Bed& bed) {
    auto& run = bed.run;
    Pair pair{"blocking", bed.pattern.name, "read", "", bed.pattern.bytes(), {}, {}};
    for (Side const side : run.sides()) {
        bed.write(side, first_seed);
        pair.wrong[std::size_t(side)] = bed.wrong_in_file(side, first_seed);
    }
    pair.seconds = measure_in_turn(run, pair.pattern + " read", [&](Side side, int) {
        double const seconds = bed.read(side);
        pair.wrong[std::size_t(side)] +=
            sum_over_ranks(bed.pattern.wrong_bytes(bed.buffer.data(), first_seed));
        return seconds;
    });
    return pair;
}

}  // namespace

void mode_blocking(Run& run) {
    auto const bytes = run.options.bytes != 0 ? run.options.bytes : std::uint64_t{16} << 20;
    start_pair_table(run, "blocking: one collective call through a view");
    for (auto const& name : spell_out(run.options.patterns)) {
        {
            Bed bed(run, name, bytes);
            for (auto const& direction : run.options.directions)
                report_pair(run, direction == "write" ? measure_write(bed) : measure_read(bed));
        }
        remove_files(run);
    }
}

}  // namespace sluice::bench
