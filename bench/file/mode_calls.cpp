// Modes small and open: what one call costs when there is next to nothing to move. Calls are timed
// in batches, Sluice and peer in turn, and reported as time per call.
#include <memory>

#include "bench/file/patterns.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {

namespace {

void measure_small(Run& run, std::uint64_t bytes) {
    int const calls = run.options.calls > 0 ? run.options.calls : 100;
    Pair pair{"small", "", "write", text_of("at_all x %d", calls), bytes, {}, {}};
    {
        Pattern const row(run, "contiguous", bytes);
        auto const words = std::size_t(row.words());
        std::vector<double> buffer(words * std::size_t(calls));
        for (int i = 0; i < calls; ++i)
            row.fill(buffer.data() + words * std::size_t(i), 1, std::uint64_t(i));
        pair.bytes = row.bytes();

        std::array<std::unique_ptr<File>, 2> files;
        for (Side const side : run.sides())
            files[std::size_t(side)] = std::make_unique<File>(run, side);
        auto const write_batch = [&](MPI_File file) {
            for (int i = 0; i < calls; ++i) {
                auto const offset =
                    std::uint64_t(i) * row.row_bytes + std::uint64_t(run.rank) * row.bytes();
                check(MPI_File_write_at_all(file, MPI_Offset(offset),
                                            buffer.data() + words * std::size_t(i), row.words(),
                                            MPI_DOUBLE, MPI_STATUS_IGNORE),
                      "MPI_File_write_at_all");
            }
        };
        pair.seconds = measure_in_turn(run, "small", [&](Side side, int) {
            return time_together([&] { write_batch(files[std::size_t(side)]->handle); }) / calls;
        });
        for (Side const side : run.sides()) {
            check(MPI_File_sync(files[std::size_t(side)]->handle), "MPI_File_sync");
            pair.wrong[std::size_t(side)] =
                row.wrong_in_file(run, run.path[std::size_t(side)], 1, std::uint64_t(calls));
        }
    }
    report_pair(run, pair);
    remove_files(run);
}

}  // namespace

void mode_small(Run& run) {
    start_pair_table(run, "small: time of one MPI_File_write_at_all");
    auto const sizes = run.options.bytes.empty() ? std::vector<std::uint64_t>{4096, 16384, 65536}
                                                 : run.options.bytes;
    expect_measurements(run, sizes.size());
    for (auto const bytes : sizes) measure_small(run, bytes);
}

void mode_open(Run& run) {
    int const calls = run.options.calls > 0 ? run.options.calls : 50;
    Pair pair{"open", "", "", text_of("open + close x %d", calls), 0, {}, {}};
    start_pair_table(run, "open: time of one MPI_File_open and MPI_File_close of an existing file");
    expect_measurements(run, 1);
    for (Side const side : run.sides()) File const create(run, side);
    pair.seconds = measure_in_turn(run, "open", [&](Side side, int) {
        return time_together([&] {
                   for (int i = 0; i < calls; ++i) File const file(run, side, MPI_MODE_RDWR);
               }) /
               calls;
    });
    report_pair(run, pair);
    remove_files(run);
}

}  // namespace sluice::bench
