// The application kernel "3-D FFT" of "Nonblocking collectives over InfiniBand".
#include "study/collective/applications.hpp"
#ifdef SLUICE_HAVE_FFTW3
#include "study/collective/transform.hpp"
#endif

namespace sluice::collectives {

#ifdef SLUICE_HAVE_FFTW3
void measure_fft(Job& job, bool pencils) {
    Grid grid{job.options.points, job.run.ranks,     1,
              job.options.fields, job.options.tiles, job.options.outstanding};
    if (pencils) {  // As near to a square as it goes; of two ranks one row.
        int rows = 1;
        for (int i = 1; i * i <= job.run.ranks; ++i)
            if (job.run.ranks % i == 0) rows = i;
        grid.rows = rows, grid.columns = job.run.ranks / rows;
    }
    grid.points += (job.run.ranks - grid.points % job.run.ranks) % job.run.ranks;
    Transform transform(grid);
    bench::Json description;
    description.add_integer("points", std::uint64_t(grid.points));
    description.add_integer("fields", std::uint64_t(grid.fields));
    description.add_integer("rows", std::uint64_t(grid.rows));
    description.add_integer("columns", std::uint64_t(grid.columns));
    description.add_integer("tiles", std::uint64_t(grid.tiles));
    description.add_integer("outstanding", std::uint64_t(grid.outstanding));
    description.add_integer("bytes_per_rank", transform.bytes());
    if (job.options.asleep) transform.fall_asleep();
    auto name = std::string(pencils ? "fft-pencil " : "fft-slab ");
    if (grid.fields > 1) name += std::to_string(grid.fields) + " x ";
    measure_application(
        job, name + std::to_string(grid.points), movers(job), description,
        [&](Mover const& mover) { return transform.run(*mover.service, mover.tests); },
        [&] { return bench::sum_over_ranks(transform.wrong_bytes()); });
}
#else
void measure_fft(Job& job, bool pencils) {
    job.report().note(std::string("\n") + (pencils ? "fft-pencil" : "fft-slab") +
                      ": left out, it was built without FFTW (libfftw3-dev)");
}
#endif

}  // namespace sluice::collectives
