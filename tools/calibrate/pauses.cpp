// Calls whose ranks did something else before them, as programs make them: what they take longer
// than the model says of calls in a row. See calibrate.hpp.
#include "file/plan/cost_model.hpp"
#include "tools/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <mpi.h>
#include <sched.h>

namespace sluice::calibrate {
namespace {

constexpr int paused_bytes = 4096;

int cores_here() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/// A file in which each rank has a piece that it reads and writes without an exchange.
class PieceFile {
public:
    PieceFile(Job const& job, std::string const& path)
        : offset_(MPI_Offset{job.rank} * paused_bytes) {
        MPI_Info hints = MPI_INFO_NULL;
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "romio_cb_write", "disable");
        MPI_Info_set(hints, "romio_cb_read", "disable");
        if (job.options.page_cache == PageCache::direct_io)
            MPI_Info_set(hints, "sluice_page_cache", "direct");
        bench::check(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR, hints, &file_),
                     "MPI_File_open");
        MPI_Info_free(&hints);
    }
    ~PieceFile() { MPI_File_close(&file_); }
    PieceFile(PieceFile const&) = delete;
    PieceFile& operator=(PieceFile const&) = delete;

    /// Of the slowest rank.
    double seconds(Direction direction) {
        return bench::time_together([&] {
            int const result =
                direction == Direction::write
                    ? MPI_File_write_at_all(file_, offset_, memory_.data(), paused_bytes, MPI_BYTE,
                                            MPI_STATUS_IGNORE)
                    : MPI_File_read_at_all(file_, offset_, memory_.data(), paused_bytes, MPI_BYTE,
                                           MPI_STATUS_IGNORE);
            bench::check(result, "a collective call");
        });
    }

private:
    MPI_Offset const offset_;
    MPI_File file_ = MPI_FILE_NULL;
    std::vector<char> memory_ = std::vector<char>(paused_bytes);
};

Workload workload(Job const& job, Direction direction) {
    Workload work;
    work.direction = direction;
    work.ranks = work.pieces = job.ranks;
    work.nodes = std::ceil(work.ranks / static_cast<double>(job.near().size()));
    work.bytes = work.span = work.ranks * paused_bytes;
    work.bytes_most = paused_bytes, work.pieces_most = 1;
    work.cores_a_node = cores_here();
    return work;
}

double middle_of(std::vector<double> all) {
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

}  // namespace

void measure_pauses(Job const& job, double seconds, MachineProfile& profile) {
    if (!is_served()) return;
    constexpr std::size_t calls_least = 9;
    job.progress->part("calls after a pause");
    Scratch scratch(job, job.options.directory, "pauses",
                    job.one_node() ? Scratch::Reach::node : Scratch::Reach::world);
    bench::wait_for_all();
    PieceFile file(job, scratch.path());
    scratch.remove();
    double const begin = bench::now();
    std::vector<double> each[2];
    for (bool goes_on = true; goes_on;) {
        for (auto const direction : {Direction::write, Direction::read})
            each[index_of(direction)].push_back(file.seconds(direction));
        bool const early = bench::now() - begin < seconds;
        goes_on = of_rank_0(early ? 1 : 0) > 0 || each[0].size() < calls_least;
    }
    double longer = 0;
    for (auto const direction : {Direction::write, Direction::read}) {
        Workload const work = workload(job, direction);
        double const median = middle_of(each[index_of(direction)]);
        longer += (median - price(Candidate{}, work, profile).total) / 2;
    }
    double const crowd = static_cast<double>(job.near().size()) / cores_here();
    profile.after_pause = std::max(0.0, longer / std::max(1.0, crowd));
}

}  // namespace sluice::calibrate
