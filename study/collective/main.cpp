// sluice-collectives: `sluice bench overhead` and `sluice bench kernels`. Collectives between
// memories by Sluice and by the MPI library itself, in one run and in turn.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "study/collective/codec.hpp"
#include "study/collective/measuring.hpp"
#include "tools/command_line.hpp"
#include "tools/launched.hpp"

namespace {

using namespace sluice::collectives;
namespace bench = sluice::bench;

void declare_common(CLI::App& app, Options& o) {
    app.add_option("--way", o.ways,
                   "mpi (the MPI's nonblocking call), interposed (MPI_I* served by Sluice), sluice "
                   "(sluice_i*); default: all that are there. The MPI's blocking call always is")
        ->delimiter(',')
        ->check(CLI::IsMember(nonblocking_way_names()));
    app.add_option("--repeat", o.repeat, "turns (default: 15)")->check(CLI::PositiveNumber);
    app.add_option("--least", o.least, "turns even where time is short (default: 3)")
        ->check(CLI::PositiveNumber);
    app.add_option("--seconds", o.seconds, "for all of one --what, or of one kernel (default: 60)")
        ->check(CLI::PositiveNumber);
    app.add_flag("--asleep", o.asleep,
                 "sleep where a program would compute: as if each rank had a core to spare");
    app.add_option("--json", o.json, "append one JSON line a result to this file");
    app.add_option("--link", o.link, "what is known of the network, for the record");
    app.add_flag("--progress", o.progress, "tell how far it is though mpiexec hides the terminal");
}

void declare_overhead(CLI::App& app, Options& o) {
    app.add_option(
           "--what", o.what,
           "overhead (default): initiation + tests + wait during a computation as long as "
           "the blocking call; blocking: start + wait alone; overlap: what part of a call "
           "hides behind a computation as long; message: isend, irecv, test; queue: what each "
           "posted or unexpected message in a queue adds to a message; network: messages between "
           "two ranks over the MPI and over libfabric, looking and asleep; barrier: by messages "
           "and "
           "by counters that peers raise over libfabric; multicast: what each provider of "
           "libfabric answers to it, and a broadcast by it")
        ->delimiter(',')
        ->check(CLI::IsMember({"overhead", "blocking", "overlap", "message", "queue", "network",
                               "barrier", "multicast"}));
    auto known = kind_names();
    app.add_option("--kind", o.kinds,
                   "such as alltoall (default: gather,alltoall for overhead; "
                   "else all)")
        ->delimiter(',')
        ->check(CLI::IsMember(known));
    app.add_option("--bytes", o.bytes,
                   "of a block (default: overhead 1 to 256K, blocking 8 to 1M, "
                   "overlap 1M)")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 28));
    app.add_option("--interval", o.intervals,
                   "overhead: bytes from one test to the next (default: 0,1024,2048,4096,8192; 0: "
                   "no tests)")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false));
    app.add_flag("--computing", o.computing,
                 "network, barrier: a thread of each rank computes meanwhile");
    app.add_option("--tests", o.tests, "overlap: during one computation (default: 0)")
        ->check(CLI::NonNegativeNumber);
}

void declare_kernels(CLI::App& app, Options& o) {
    app.add_option("--kernel", o.kernels,
                   "compression, fft-slab, fft-pencil (default: all of them)")
        ->delimiter(',')
        ->check(CLI::IsMember({"compression", "fft-slab", "fft-pencil"}));
    app.add_option("--file", o.file, "compression: of what (default: made-up text)");
    app.add_option("--bytes", o.text_bytes, "compression: of made-up text (default: 16M)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30));
    app.add_option("--chunk", o.chunk_bytes, "compression: of a rank at a time (default: 256K)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1} << 10, std::uint64_t{1} << 28));
    app.add_option("--codec", o.codec, "compression: zlib (default where it is there) or zstd")
        ->check(CLI::IsMember(codec_names()));
    app.add_option("--level", o.level,
                   "compression: of zlib 1 to 9, of zstd below 0 to 22 (default: the codec's)");
    app.add_option("--points", o.points,
                   "transforms: in each direction, made a multiple of the ranks (default: 128)")
        ->check(CLI::Range(2, 1024));
    app.add_option("--fields", o.fields,
                   "transforms: so many at a time, in one pipeline (default: 3)")
        ->check(CLI::Range(1, 64));
    app.add_option("--tiles", o.tiles, "transforms: of each transposition (default: 16)")
        ->check(CLI::PositiveNumber);
    app.add_option("--outstanding", o.outstanding, "operations at a time, at most (default: 2)")
        ->check(CLI::PositiveNumber);
}

/// `command`: which one it was.
sluice::ParsedLine parse(int argc, char** argv, Options& options, std::string& command) {
    CLI::App app("Collectives between memories: Sluice and the MPI's own, in turn.",
                 "sluice bench");
    app.require_subcommand(1);
    auto& overhead = *app.add_subcommand("overhead", "What collectives cost, and what is hidden");
    declare_overhead(overhead, options);
    declare_common(overhead, options);
    auto& kernels = *app.add_subcommand("kernels", "Application kernels: compression, 3-D FFT");
    declare_kernels(kernels, options);
    declare_common(kernels, options);
    auto const parsed = sluice::parse_line(app, argc, argv);
    if (!parsed.exit_code) command = app.get_subcommands().front()->get_name();
    return parsed;
}

/// As a user would repeat it, wherever the build lies.
std::string command_line(int argc, char** argv) {
    std::string line = "sluice bench";
    for (int i = 1; i < argc; ++i) {
        std::string const before = argv[i - 1];
        bool const names_file = before == "--json" || before == "--file";
        line += std::string(" ") + (names_file ? "FILE" : argv[i]);
    }
    return line;
}

void start_mpi(int& argc, char**& argv, bench::Run& run) {
    MPI_Init(&argc, &argv);
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    run.threads = level == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    sluice::tools::end_if_apart(run.ranks);
    run.served = !bench::loaded_sluice().empty();
}

int measure(Job& job, std::string const& command) {
    bool const kernels = command == "kernels";
    for (auto const& kernel : kernels ? job.options.kernels : std::vector<std::string>{}) {
        if (kernel == "compression") measure_compression(job);
        if (kernel == "fft-slab") measure_fft(job, false);
        if (kernel == "fft-pencil") measure_fft(job, true);
    }
    for (auto const& what : kernels ? std::vector<std::string>{} : job.options.what) {
        if (what == "overhead") measure_overhead(job);
        if (what == "blocking") measure_blocking(job);
        if (what == "overlap") measure_overlap(job);
        if (what == "message") measure_messages(job);
        if (what == "queue") measure_queues(job);
        if (what == "network") measure_network(job);
        if (what == "barrier") measure_barriers(job);
        if (what == "multicast") measure_multicast(job);
    }
    if (job.run.wrong_bytes == 0) return job.failed ? 1 : 0;
    job.report().note(bench::text_of("\nwrong bytes: %llu",
                                     static_cast<unsigned long long>(job.run.wrong_bytes)));
    return 1;
}

int run_job(Job& job, std::string const& command, std::string const& line) {
    auto& o = job.run.options;
    o.json = job.options.json, o.link = job.options.link, o.repeat = job.options.repeat;
    using Way = bench::Progress::Way;
    bool const terminal = isatty(STDERR_FILENO) == 1;
    bench::Progress progress(job.run.rank != 0      ? Way::none
                             : terminal             ? Way::bar
                             : job.options.progress ? Way::lines
                                                    : Way::none);
    bench::Report report(job.run, line);
    job.run.report = &report, job.run.progress = &progress;
    return measure(job, command);
}

}  // namespace

int main(int argc, char** argv) {
    Job job;
    auto const line = command_line(argc, argv);
    std::string command;
    auto const parsed = parse(argc, argv, job.options, command);
    start_mpi(argc, argv, job.run);
    int result = 0;
    if (parsed.exit_code) {
        if (job.run.rank == 0) parsed.tell();
        result = *parsed.exit_code;
    } else {
        result = run_job(job, command, line);
    }
    MPI_Finalize();
    return result;
}
