// Files, timing and turn-taking for the modes of sluice-bench. Every function here is collective
// over MPI_COMM_WORLD unless it touches nothing but this rank.
#include "bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sluice::bench {
namespace {

void set_hints(MPI_Info info, std::vector<std::string> const& hints) {
    for (auto const& hint : hints) {
        auto const equals = hint.find('=');
        if (equals != std::string::npos)
            MPI_Info_set(info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
    }
}

void show_progress(Run const& run, std::string const& label, int repeat) {
    static bool const wanted = run.rank == 0 && isatty(STDERR_FILENO) == 1;
    if (!wanted) return;
    if (repeat < run.options.repeat)
        std::fprintf(stderr, "\r\033[K%s: %d of %d", label.c_str(), repeat + 1, run.options.repeat);
    else
        std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
}

}  // namespace

void check(int code, char const* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    std::fprintf(stderr, "sluice-bench: %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

double max_over_ranks(double value) {
    double result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

std::uint64_t sum_over_ranks(std::uint64_t value) {
    std::uint64_t result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return result;
}

double time_together(std::function<void()> const& action) {
    MPI_Barrier(MPI_COMM_WORLD);
    double const begin = MPI_Wtime();
    action();
    return max_over_ranks(MPI_Wtime() - begin);
}

Hints::Hints(Run const& run, Side side) {
    MPI_Info_create(&info);
    set_hints(info, run.options.hints);
    if (side == Side::sluice) return;
    MPI_Info_set(info, "sluice", "disable");
    set_hints(info, run.options.peer_hints);
}

File::File(Run const& run, Side side, int mode) {
    Hints const hints(run, side);
    check(MPI_File_open(MPI_COMM_WORLD, run.path[std::size_t(side)].c_str(), mode, hints.info,
                        &handle),
          "MPI_File_open");
}

File::~File() { MPI_File_close(&handle); }

void remove_files(Run const& run) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (run.rank == 0 && !run.options.keep)
        for (auto const& path : run.path) ::unlink(path.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

PerSide measure_in_turn(Run const& run, std::string const& label,
                        std::function<double(Side, int)> const& measure) {
    PerSide seconds;
    for (int repeat = -run.options.warmup; repeat < run.options.repeat; ++repeat) {
        show_progress(run, label, std::max(repeat, 0));
        auto sides = run.sides();
        // A B, B A, A B ...: whoever comes second finds warmer caches.
        if (repeat % 2 != 0) std::reverse(sides.begin(), sides.end());
        for (Side const side : sides) {
            double const taken = measure(side, repeat);
            if (repeat >= 0) seconds[std::size_t(side)].push_back(taken);
        }
    }
    show_progress(run, label, run.options.repeat);
    return seconds;
}

}  // namespace sluice::bench
