// sluice-bench: the same collective file I/O by Sluice and by the MPI library itself, in one run
// and in turn. `sluice bench` starts it with Sluice preloaded; it is an ordinary MPI program.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "bench/file/compare.hpp"
#include "bench/file/modes.hpp"
#include "bench/file/mpi_devices.hpp"
#include "bench/file/patterns.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/measure/report.hpp"
#include "tools/command_line.hpp"
#include "tools/launched.hpp"

namespace {

using namespace sluice::bench;

std::vector<std::string> names_and_all(std::vector<std::string> names) {
    names.emplace_back("all");
    return names;
}

/// Which bytes of the file are whose.
void declare_patterns(CLI::App& app, Options& o) {
    app.add_option("--pattern", o.patterns,
                   "contiguous, strided, block3d, lattice4d, lattice5d, btio, irregular, random, "
                   "e3sm, holes, flash, or all of these (the default); E3SM's production runs: "
                   "e3sm-f, e3sm-g, e3sm-i")
        ->delimiter(',')
        ->check(CLI::IsMember(names_and_all(pattern_names())));
    app.add_option("--piece", o.piece,
                   "bytes of a piece, strided, irregular and random (default: 64)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::PositiveNumber);
    app.add_option("--seed", o.pattern_seed,
                   "of the irregular, random, e3sm-f, -g and -i patterns (default: 1)");
    app.add_flag(
        "--published", o.published,
        "btio of 1024^3 points, flash with 80 blocks a rank: as many of the planes, of the "
        "variables, as --bytes allows");
    app.add_option("--decomposition", o.decomposition,
                   "file of the e3sm pattern, text or .gz (default: E3SM's F case, 16 ranks)");
    app.add_option("--decomposition-number", o.decomposition_number, "which one (default: 3)");
}

/// Where buffers are.
void declare_memory(CLI::App& app, Options& o) {
    app.add_option("--memory", o.memory,
                   "of all buffers: host (the default) or device, that of a GPU, by the driver of "
                   "CUDA")
        ->check(CLI::IsMember({"host", "device"}));
}

/// Options of mode overlap alone.
void declare_overlap(CLI::App& app, Options& o) {
    app.add_option("--computation", o.computation,
                   "overlap: of the host (the default), the same with halos that the ranks of a "
                   "ring exchange, or of the device: a kernel that keeps the GPU busy")
        ->check(CLI::IsMember({"host", "halos", "device"}));
    app.add_option("--halo", o.halo, "overlap: bytes that halos exchange with a neighbour (64K)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30));
    app.add_option("--tests", o.tests, "overlap: calls of MPI_Test while computing")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--late", o.late_ms, "overlap: the last rank starts this many ms late");
    app.add_flag("--ideal", o.ideal,
                 "overlap: measure beside it a plain thread that does only what no engine can "
                 "avoid");
    app.add_flag("--in-thread", o.in_thread,
                 "overlap: measure beside it the MPI's own blocking calls in a thread of each "
                 "rank (asks for MPI_THREAD_MULTIPLE)");
    app.add_option("--server", o.server,
                   "overlap: the process that emulates the device; its processor time is told");
}

void declare(CLI::App& app, Options& o) {
    auto const words = [&](char const* name, std::vector<std::string>& into, char const* help) {
        return app.add_option(name, into, help)->delimiter(',');
    };
    std::vector<std::string> mode_names;
    for (auto const& [name, mode] : modes()) mode_names.push_back(name);
    words("--mode", o.modes, mode_help())->check(CLI::IsMember(names_and_all(mode_names)));
    words("--direction", o.directions, "write, read (default: both)")
        ->check(CLI::IsMember({"write", "read"}));
    app.add_option("--bytes", o.bytes, "bytes of one rank (default: 16M; mode small: 4K,16K,64K)")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50));
    app.add_option("--repeat", o.repeat, "measurements of each side (default: 7)")
        ->check(CLI::PositiveNumber);
    app.add_option("--warmup", o.warmup, "unmeasured turns before them (default: 1)")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--calls", o.calls, "calls in one batch (default: small 100, open 50)")
        ->check(CLI::PositiveNumber);
    app.add_option("--first", o.first,
                   "compare, checkpoint: samples of a first time, at most one a rank "
                   "(default: 3)")
        ->check(CLI::PositiveNumber);
    words("--variant", o.variants,
          "checkpoint: append, new-file, append-types, new-file-types (default: all)")
        ->check(CLI::IsMember({"append", "new-file", "append-types", "new-file-types"}));
    app.add_option("--steps", o.steps, "checkpoint, steps: of one series (default: 6)")
        ->check(CLI::Range(2, 1000));
    app.add_option("--compute", o.compute, "steps: seconds of computation in each (default: 0.5)")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--grid-repeat", o.grid_repeat,
                   "compare: measurements for each point of the grid of hints (default: 2)")
        ->check(CLI::PositiveNumber);
    words("--contenders", o.contenders,
          "compare: sluice, default, best, thread, alltoallv, limit; with --memory device: sluice, "
          "host, pinned, pageable, default-pinned, default, limit (default: all)");
    app.add_option("--thread-level", o.thread_level,
                   "of MPI: single or multiple (default: multiple for compare, else single)")
        ->check(CLI::IsMember({"single", "multiple"}));
    app.add_option("--operations", o.operations, "outstanding: operations in total (default: 16)")
        ->check(CLI::PositiveNumber);
    app.add_option("--outstanding", o.outstanding,
                   "outstanding: how many at a time (default: 1,2,4,8,16)")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--dir", o.directory, "where the two files go (default: here)")
        ->check(CLI::ExistingDirectory);
    app.add_option("--link", o.link, "what is known of the network, for the record");
    app.add_option("--device", o.device, "what is known of the storage, for the record");
    app.add_option("--json", o.json, "append one JSON line a result to this file");
    words("--hint", o.hints, "key=value: MPI_Info hint for both files");
    words("--peer-hint", o.peer_hints, "key=value: hint for the MPI's own file only");
    app.add_flag(
        "--best-hints", o.best_hints,
        "outstanding: the MPI's own file has the hints of compare's grid that are best for "
        "one operation at a time");
    app.add_flag("--no-peer", o.no_peer, "measure Sluice only");
    app.add_flag("--progress", o.progress,
                 "draw the progress bar though mpiexec hides the terminal");
    app.add_flag("--keep", o.keep, "leave the files there");
    app.footer(
        "Each result compares a file that Sluice serves with one that the MPI library serves\n"
        "(hint sluice=disable), measured in turn; mode compare adds the MPI with the best of a\n"
        "grid of hints, the MPI in a helper thread, and the machine's limit. Times are from the\n"
        "begin of the first rank to the end of the last. Ends with 1 if bytes are wrong.");
}

/// What follows from where the buffers are.
void complete(Options& o) {
    bool const on_device = o.memory == "device";
    if (o.contenders.empty()) o.contenders = contender_words(on_device);
    if (o.modes != std::vector<std::string>{"all"}) return;
    o.modes.clear();
    for (auto const& [name, mode] : modes())
        if (!mode.is_long && (mode.on_device || !on_device)) o.modes.push_back(name);
}

/// What of the options does not go together; empty: all does.
std::string conflict_of(Options const& o) {
    bool const on_device = o.memory == "device";
    for (auto const& name : o.modes)
        if (on_device && !modes().at(name).on_device)
            return "mode " + name + " has its buffers on the host: leave out --memory device";
    if (o.best_hints && o.no_peer) return "--best-hints are of the peer: leave out --no-peer";
    if (on_device && o.ideal)
        return "--ideal has its buffers on the host: leave out --memory device";
    auto const words = contender_words(on_device);
    for (auto const& word : o.contenders)
        if (std::find(words.begin(), words.end(), word) == words.end())
            return "--contenders: " + word + " is none of those with --memory " + o.memory;
    return "";
}

sluice::ParsedLine parse(int argc, char** argv, Options& options) {
    CLI::App app("Compares Sluice with the MPI library's own collective file I/O.", "sluice-bench");
    declare(app, options);
    declare_patterns(app, options);
    declare_memory(app, options);
    declare_overlap(app, options);
    declare_more(app);
    auto const parsed = sluice::parse_line(app, argc, argv);
    if (parsed.exit_code) return parsed;
    complete(options);
    auto const conflict = conflict_of(options);
    if (!conflict.empty()) return {sluice::bad_usage, "", "sluice: " + conflict + "\n"};
    return parsed;
}

/// The helper-thread contender needs MPI_THREAD_MULTIPLE; then all contenders get it.
void start_mpi(int& argc, char**& argv, Run& run) {
    auto const& o = run.options;
    bool const compares = o.modes == std::vector<std::string>{"compare"} && !run.on_device();
    bool const needs = compares || o.in_thread;
    bool const wants = o.thread_level.empty() ? needs : o.thread_level == "multiple";
    int level = MPI_THREAD_SINGLE;
    if (wants)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    run.threads = wants && level == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    sluice::tools::end_if_apart(run.ranks);
}

/// As a user would repeat it, wherever the build lies.
std::string command_line(int argc, char** argv) {
    std::string line = program_name();
    for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
    return line;
}

/// Two files of this job's own, in the directory asked for.
void choose_paths(Run& run) {
    int process = int(getpid());
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    auto const stem = run.options.directory + "/sluice-bench-" + std::to_string(process);
    run.path = {stem + "-sluice", stem + "-peer"};
}

int run_modes(Run& run) {
    for (auto const& mode : run.options.modes) modes().at(mode).run(run);
    if (run.wrong_bytes == 0) return 0;
    run.report->note(
        text_of("\nwrong bytes: %llu", static_cast<unsigned long long>(run.wrong_bytes)));
    return 1;
}

/// What the options ask for; the exit code.
int run_bench(Run& run, std::string const& line) {
    std::string why;
    std::unique_ptr<Gpu> gpu;
    bool const needs_gpu = run.on_device() || run.options.computation == "device";
    if (needs_gpu) gpu = gpu_of_rank(why);
    run.gpu = gpu.get();
    choose_paths(run);
    run.served = !loaded_sluice().empty();
    bool const mpi_takes_buffers = !run.on_device() || sluice::mpi_reaches_devices();
    if (why.empty() && !mpi_takes_buffers && !run.served)
        why = "Sluice is not loaded, and the MPI does not say that it reaches memory of GPUs";
    if (!why.empty()) {
        if (run.rank == 0) std::fprintf(stderr, "sluice: %s\n", why.c_str());
        return 1;
    }
    Report report(run, line);
    Progress progress(run.rank == 0 && (run.options.progress || isatty(STDERR_FILENO) == 1));
    run.report = &report;
    run.progress = &progress;
    if (!mpi_takes_buffers) {
        report.note("the MPI does not say that it reaches memory of GPUs: it gets no pointers");
        run.options.no_peer = true;
    }
    return run_modes(run);
}

}  // namespace

int main(int argc, char** argv) {
    Run run;
    auto const line = command_line(argc, argv);
    auto const parsed = parse(argc, argv, run.options);
    start_mpi(argc, argv, run);
    int result = 0;
    if (parsed.exit_code) {
        if (run.rank == 0) parsed.tell();
        result = *parsed.exit_code;
    } else {
        result = run_bench(run, line);
    }
    MPI_Finalize();
    return result;
}
