// Collective calls of the library itself, on a file in memory: what they cost beside bytes,
// messages and storage. See calibrate.hpp.
#include "bench/measure/regression.hpp"
#include "tools/calibrate/calibrate.hpp"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

namespace sluice::calibrate {
namespace {

constexpr int window_bytes = 4096, piece_bytes = 64;
constexpr int windows_most = 64;

/// A file of some ranks, in which each has a few bytes of every window; the others wait.
class CallFile {
public:
    CallFile(MPI_Comm ranks, std::string const& path) : takes_part_(ranks != MPI_COMM_NULL) {
        if (!takes_part_) return;
        int rank = 0;
        MPI_Comm_rank(ranks, &rank);
        MPI_Comm_size(ranks, &ranks_);
        MPI_Info hints = MPI_INFO_NULL;
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "romio_cb_write", "enable");
        MPI_Info_set(hints, "cb_nodes", "1");
        MPI_Info_set(hints, "cb_buffer_size", std::to_string(window_bytes).c_str());
        bench::check(MPI_File_open(ranks, path.c_str(), MPI_MODE_RDWR, hints, &file_),
                     "MPI_File_open");
        MPI_Info_free(&hints);
        MPI_Datatype piece = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(piece_bytes, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, window_bytes, &view);
        MPI_Type_commit(&view);
        MPI_File_set_view(file_, MPI_Offset{piece_bytes} * rank, MPI_BYTE, view, "native",
                          MPI_INFO_NULL);
        MPI_Type_free(&piece);
        MPI_Type_free(&view);
    }
    ~CallFile() {
        if (takes_part_) MPI_File_close(&file_);
    }
    CallFile(CallFile const&) = delete;
    CallFile& operator=(CallFile const&) = delete;

    /// Bytes that lie together in a window.
    [[nodiscard]] int stretch() const noexcept { return piece_bytes * ranks_; }

    /// Seconds of a call in which each rank writes to so many windows, undisturbed: of many short
    /// batches. Takes `seconds`.
    double seconds(int windows, double seconds) {
        constexpr int batches_least = 8, calls_least = 4, calls_most = 200;
        constexpr double batch_seconds = 500e-6;
        double const begin = bench::now();
        double const guess = batch(windows, calls_least);
        int const calls = static_cast<int>(
            std::clamp(batch_seconds / guess, double{calls_least}, double{calls_most}));
        std::vector<double> each;
        for (bool goes_on = true; goes_on;) {
            each.push_back(batch(windows, calls));
            bool const early = bench::now() - begin < seconds;
            goes_on = of_rank_0(early ? 1 : 0) > 0 || each.size() < batches_least;
        }
        constexpr double share = 0.05;  // Ranks wait for each other: most batches are disturbed.
        return low_of(std::move(each), share);
    }

private:
    /// The first call is not timed: it makes the ranks begin together, also those of other nodes.
    double batch(int windows, int calls) {
        bench::start_together();
        if (takes_part_) call(windows);
        double const begin = bench::now();
        for (int i = 0; takes_part_ && i < calls; ++i) call(windows);
        return bench::max_over_ranks(bench::now() - begin) / calls;
    }

    /// Never like the calls before it: a library that knows a call again leaves a part of it out.
    void call(int windows) {
        constexpr int lengths = 61;
        int const bytes = windows == 0 ? 0 : windows * piece_bytes - number_++ % lengths;
        bench::check(
            MPI_File_write_at_all(file_, 0, memory_.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_at_all");
    }

    bool const takes_part_;
    int ranks_ = 0, number_ = 0;
    MPI_File file_ = MPI_FILE_NULL;
    std::vector<char> memory_ = std::vector<char>(std::size_t{windows_most} * piece_bytes);
};

/// What the file in memory takes for one window's bytes.
double write_seconds(std::string const& path, int bytes) {
    constexpr int turns = 9;
    std::vector<char> const memory(static_cast<std::size_t>(bytes));
    std::vector<double> each;
    int const fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    for (int turn = 0; fd >= 0 && turn < turns; ++turn) {
        double const begin = bench::now();
        for (int i = 0; i < windows_most; ++i)
            if (pwrite(fd, memory.data(), memory.size(), off_t{i} * window_bytes) < 0) break;
        each.push_back((bench::now() - begin) / windows_most);
    }
    if (fd >= 0) close(fd);
    return low_of(std::move(each));
}

/// The ranks of rank 0's node; none on the others.
MPI_Comm near_ranks(Job const& job) {
    MPI_Comm ranks = MPI_COMM_NULL;
    bool const near = job.node() == job.nodes.front();
    MPI_Comm_split(MPI_COMM_WORLD, near ? 0 : MPI_UNDEFINED, job.rank, &ranks);
    return ranks;
}

std::string folder_in_memory(Job const& job) {
    char const* const shared = "/dev/shm";
    bool const here = job.rank == 0 && access(shared, W_OK) == 0;
    return of_rank_0(here ? 1 : 0) > 0 ? shared : job.options.directory;
}

/// Calls of one node: without bytes, and with ever more windows.
void measure_near(Job const& job, std::string const& folder, double seconds,
                  MachineProfile& profile) {
    constexpr int windows[] = {1, 4, 16, windows_most};
    constexpr auto steps = static_cast<double>(std::size(windows) + 1);
    Scratch const scratch(job, folder, "calls", Scratch::Reach::node);
    MPI_Comm ranks = near_ranks(job);
    {
        bench::wait_for_all();
        CallFile file(ranks, scratch.path());
        job.progress->step("calls that move nothing");
        profile.operation = file.seconds(0, seconds / steps);
        std::vector<Sample> samples;
        for (int const count : windows) {
            job.progress->step("calls of " + std::to_string(count) + " windows");
            samples.push_back({static_cast<double>(count), file.seconds(count, seconds / steps)});
        }
        StraightLine const line = line_through(samples);
        double const own =
            of_rank_0(job.rank == 0 ? write_seconds(scratch.path(), file.stretch()) : 0);
        profile.exchange = std::max(0.0, line.start - profile.operation);
        profile.round = std::max(0.0, line.each - own);
    }
    if (ranks != MPI_COMM_NULL) MPI_Comm_free(&ranks);
}

}  // namespace

bool is_served() { return dlsym(RTLD_DEFAULT, "sluice_version") != nullptr; }

void measure_calls(Job const& job, double seconds, MachineProfile& profile) {
    if (!is_served()) {
        if (job.rank == 0)
            std::fprintf(stderr, "sluice calibrate: the library is switched off (SLUICE=off): "
                                 "calls keep usual costs\n");
        return;
    }
    job.progress->part("collective calls");
    constexpr int steps = 6;
    job.progress->expect(steps);
    measure_near(job, folder_in_memory(job), seconds * (job.one_node() ? 1 : 0.7), profile);
    if (!job.one_node()) {
        job.progress->step("calls of all nodes");
        Scratch scratch(job, job.options.directory, "calls", Scratch::Reach::world);
        bench::wait_for_all();
        CallFile file(MPI_COMM_WORLD, scratch.path());
        scratch.remove();
        double const all = file.seconds(0, 0.3 * seconds);
        profile.operation_nodes = std::max(0.0, all - profile.operation);
    }
    job.progress->wipe();
}

}  // namespace sluice::calibrate
