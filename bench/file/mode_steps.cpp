// Mode steps: a program that computes and makes one blocking collective call of contiguous bytes,
// step after step. What is timed is the whole loop with the close, so that ranks which drift apart
// gain: one computes while another one's bytes are on their way to the device.
#include "bench/file/patterns.hpp"
#include "bench/measure/report.hpp"
#include "bench/measure/work.hpp"

namespace sluice::bench {
namespace {

/// `name` is "write" or "read".
void measure_steps(Run& run, std::string const& name) {
    bool const writes = name == "write";
    int const steps = run.options.steps;
    Pattern const row(run, "contiguous", run.bytes());
    Pair pair{"steps",
              "contiguous",
              name,
              text_of("%d steps of %g s", steps, run.options.compute),
              row.bytes() * std::uint64_t(steps),
              {},
              {}};
    std::vector<double> buffer(std::size_t(row.words()));
    auto const iterations = iterations_lasting(run.options.compute);
    auto const access = [&](MPI_File file, int step, bool write) {
        MPI_Offset const first = MPI_Offset(row.row_bytes) * step;
        MPI_Offset const offset = first + MPI_Offset(row.bytes()) * run.rank;
        if (write)
            check(MPI_File_write_at_all(file, offset, buffer.data(), row.words(), MPI_DOUBLE,
                                        MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all");
        else
            check(MPI_File_read_at_all(file, offset, buffer.data(), row.words(), MPI_DOUBLE,
                                       MPI_STATUS_IGNORE),
                  "MPI_File_read_at_all");
    };
    for (Side const side : run.sides()) {  // Reads find data, and writes find the file.
        File const file(run, side);
        for (int step = 0; step < steps; ++step) {
            row.fill(buffer.data(), 1, std::uint64_t(step));
            access(file.handle, step, true);
        }
    }
    pair.seconds = measure_in_turn(run, "steps", [&](Side side, int) {
        return time_together([&] {
            File const file(run, side, MPI_MODE_RDWR);
            for (int step = 0; step < steps; ++step) {
                compute(iterations);
                if (writes) row.fill(buffer.data(), 1, std::uint64_t(step));
                access(file.handle, step, writes);
            }
        });
    });
    for (Side const side : run.sides()) {
        pair.wrong[std::size_t(side)] =
            row.wrong_in_file(run, run.path[std::size_t(side)], 1, std::uint64_t(steps));
    }
    report_pair(run, pair);
    remove_files(run);
}

}  // namespace

void mode_steps(Run& run) {
    start_pair_table(run, "steps: computation and one blocking collective call, with the close");
    expect_measurements(run, run.options.directions.size());
    for (auto const& direction : run.options.directions) measure_steps(run, direction);
}

}  // namespace sluice::bench
