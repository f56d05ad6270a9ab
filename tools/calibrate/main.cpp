// sluice-calibrate: measures what messages, copies, calls and the storage cost on this machine, and
// writes it down for the library. `sluice calibrate` starts it with Sluice preloaded.
#include "tools/calibrate/calibrate.hpp"
#include "tools/calibrate/report.hpp"
#include "tools/command_line.hpp"
#include "tools/launched.hpp"

#include <CLI/CLI.hpp>
#include <mpi.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::calibrate;

void declare(CLI::App& app, Options& o) {
    app.add_option("--dir", o.directory,
                   "a folder of the file system that is measured (default: here)")
        ->check(CLI::ExistingDirectory);
    app.add_option("--out", o.out,
                   "the profile's file (default: where the library finds it, for this host and "
                   "the file system of --dir)");
    app.add_option("--seconds", o.seconds,
                   "for all measurements, more or less; slow devices take longer (default: 20)")
        ->check(CLI::Range(0.5, 36000.0));
    // By a function: the help of a map to PageCache would print its values as control bytes.
    app.add_option_function<std::string>(
           "--page-cache",
           [&o](std::string const& word) {
               o.page_cache = word == "direct" ? PageCache::direct_io : PageCache::keep;
           },
           "keep: files as programs use them, through the system's page cache, which may hold "
           "them (the default); direct: by direct I/O, which finds the device")
        ->check(CLI::IsMember({"keep", "direct"}));
    app.add_option("--bytes", o.file_bytes,
                   "of the scratch file, at most (default: 256M; never more than a quarter of what "
                   "is free)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{8} << 20, std::uint64_t{1} << 50));
    app.add_flag("--progress", o.progress,
                 "draw the progress bar though mpiexec hides the terminal");
    app.footer(
        "Run it as the programs will run: mpiexec -n RANKS sluice calibrate --dir FOLDER, on the\n"
        "hosts that they use. Without mpiexec there is one rank, and messages keep usual numbers.\n"
        "The library loads the profile when a file is opened; SLUICE_PROFILE names another one.");
}

ParsedLine parse(int argc, char** argv, Options& options) {
    CLI::App app("Measures this machine for Sluice's decisions and writes its profile.",
                 "sluice calibrate");
    declare(app, options);
    return parse_line(app, argc, argv);
}

void find_nodes(Job& job) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job.rank, MPI_INFO_NULL, &node);
    int lowest = job.rank;
    MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    job.nodes.resize(static_cast<std::size_t>(job.ranks));
    MPI_Allgather(&lowest, 1, MPI_INT, job.nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

using Way = bench::Progress::Way;

Way progress_way(Job const& job) {
    if (job.rank != 0) return Way::none;
    return job.options.progress || isatty(STDERR_FILENO) == 1 ? Way::bar : Way::lines;
}

void calibrate_all(Job const& job) {
    // Storage takes most of the time, since it has most of the numbers.
    constexpr double of_messages = 0.15, of_work = 0.1, of_calls = 0.15, of_pauses = 0.05;
    double const seconds = job.options.seconds;
    std::string const out = job.rank == 0 ? out_path(job.options) : "";
    MachineProfile profile = usual_machine();
    double const begin = bench::now();
    measure_messages(job, of_messages * seconds, profile);
    measure_work(job, of_work * seconds, profile);
    measure_calls(job, of_calls * seconds, profile);
    double const left = std::max(seconds / 3, seconds - (bench::now() - begin));
    StorageFacts const facts = measure_storage(job, of_rank_0(left), profile);
    measure_pauses(job, of_pauses * seconds, profile);
    if (job.rank != 0) return;
    profile.measured = measured_where(job, facts);
    write_profile(profile, out);
    print_report(job, facts, profile, out);
}

}  // namespace

int main(int argc, char** argv) {
    Job job;
    auto const parsed = parse(argc, argv, job.options);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    sluice::tools::end_if_apart(job.ranks);
    int result = 0;
    if (parsed.exit_code) {
        if (job.rank == 0) parsed.tell();
        result = *parsed.exit_code;
    } else {
        find_nodes(job);
        bench::Progress progress(progress_way(job));
        job.progress = &progress;
        calibrate_all(job);
    }
    MPI_Finalize();
    return result;
}
