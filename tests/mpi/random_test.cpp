// The differential test: all ranks make the same random program of MPI file calls from a seed, run
// it, and compare every byte and every status with a serial model. Driver: random_programs.py.
#include "random_run.hpp"

#include <ctime>
#include <unistd.h>

namespace random_test {
namespace {

int usage() {
    std::printf(
        "random_test [--seed S] [--programs N] [--dir DIR] [--only-steps N,..]\n"
        "    [--without KIND,..] [--shrink N] [--seconds N] [--pieces N] [--thread-level 0..3]\n"
        "    [--for SECONDS] [--trace] [--plain]\n"
        "Program i has the seed S + i. KIND: a kind of step, or nonblocking, split.\n"
        "--shrink N divides sizes by 2 to the power of N; --trace prints each step.\n"
        "--pieces N leaves accesses out that have more of them.\n"
        "--for: programs for so long, in place of a number; then all threads must be asleep.\n");
    return 2;
}

bool parse(int argc, char** argv, Settings& settings) {
    for (int i = 1; i < argc; ++i) {
        std::string_view const name = argv[i];
        if (name == "--trace" || name == "--plain") {
            (name == "--trace" ? settings.trace : check::state().options.plain) = true;
            continue;
        }
        if (i + 1 == argc) return false;
        std::string const value = argv[++i];
        if (name == "--seed")
            settings.seed = std::stoull(value);
        else if (name == "--programs")
            settings.programs = std::stoi(value);
        else if (name == "--dir")
            check::state().options.dir = value;
        else if (name == "--only-steps")
            settings.only_steps = words_of(value);
        else if (name == "--without")
            settings.without = words_of(value);
        else if (name == "--thread-level")
            check::state().options.thread_level = std::stoi(value);
        else if (name == "--shrink")
            settings.shrink = std::stoi(value);
        else if (name == "--pieces")
            settings.most_pieces = std::stoull(value);
        else if (name == "--seconds")
            settings.seconds = std::stoi(value);
        else if (name == "--for")
            settings.all_seconds = std::stod(value);
        else
            return false;
    }
    return true;
}

/// Whether all ranks found the program right.
bool run_program(Settings const& settings, Communicators const& communicators, std::uint64_t seed,
                 Counts& counts) {
    auto const program = make_program(seed);
    check::state().failures = 0;
    ::alarm(static_cast<unsigned>(settings.seconds));
    {
        Run run(settings, communicators, program);
        counts.add(run.run());
    }
    int failures = 0;
    MPI_Allreduce(&check::state().failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ::alarm(0);
    if (failures != 0 && check::rank() == 0) {
        std::printf("FAILED: seed %llu, %zu steps, %d ranks\n",
                    static_cast<unsigned long long>(seed), program.steps.size(), check::size());
        std::fflush(stdout);
    }
    return failures == 0;
}

void print_summary(int programs, double seconds, Counts const& counts) {
    std::printf("%d programs on %d ranks, %.1f s; of 100 programs", programs, check::size(),
                seconds);
    for (std::size_t i = 0; i < counts.of.size(); ++i) {
        std::printf("%s %s %d", i == 0 ? "" : ",", Counts::names[i],
                    100 * counts.of[i] / std::max(programs, 1));
    }
    std::printf("\n");
    std::fflush(stdout);
}

/// Whether another program follows; the same on all ranks.
bool goes_on(Settings const& settings, int done, double start) {
    if (settings.all_seconds <= 0) return done < settings.programs;
    int more = MPI_Wtime() - start < settings.all_seconds ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more != 0;
}

double processor_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Nothing is under way: in two seconds no thread of this process may do more than look around.
bool is_asleep() {
    constexpr double most = 0.05;
    sleep(1);  // What has just ended may be looked at for a moment.
    double const before = processor_seconds();
    sleep(2);
    double const used = processor_seconds() - before;
    if (used > most) std::printf("rank %d is awake: %.3f s of 2 s\n", check::rank(), used);
    return used <= most;
}

int run_all(Settings const& settings) {
    Communicators const communicators;
    Counts counts;
    double const start = MPI_Wtime();
    int done = 0;
    bool right = true;
    for (; right && goes_on(settings, done, start); ++done) {
        right = run_program(settings, communicators,
                            settings.seed + static_cast<std::uint64_t>(done), counts);
        if (check::rank() == 0 && (done + 1) % 100 == 0) {
            std::printf("%d of %d\n", done + 1, settings.programs);
            std::fflush(stdout);
        }
    }
    if (settings.all_seconds > 0) right = is_asleep() && right;
    if (check::rank() == 0) print_summary(done, MPI_Wtime() - start, counts);
    return right ? 0 : 1;
}

}  // namespace
}  // namespace random_test

int main(int argc, char** argv) {
    random_test::Settings settings;
    if (!random_test::parse(argc, argv, settings)) return random_test::usage();
    std::signal(SIGALRM, random_test::out_of_time);
    check::start_mpi(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // so that the seed is printed
    int const code = random_test::run_all(settings);
    MPI_Finalize();
    return code;
}
