// Files, timing and turn-taking for the modes of sluice-bench. Every function here is collective
// over MPI_COMM_WORLD unless it touches nothing but this rank.
#include "bench/measure/bench.hpp"

#include <unistd.h>

#include <algorithm>

#include "bench/measure/progress.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

void set_hints(MPI_Info info, std::vector<std::string> const& hints) {
    for (auto const& hint : hints) {
        auto const equals = hint.find('=');
        if (equals != std::string::npos)
            MPI_Info_set(info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
    }
}

bool is_the_mpis_own(MPI_Info info) {
    char value[16] = "";
    int found = 0;
    MPI_Info_get(info, "sluice", sizeof value - 1, value, &found);
    return found && std::string(value) == "disable";
}

}  // namespace

Hints::Hints(Run const& run, Side side) {
    MPI_Info_create(&info);
    set_hints(info, run.options.hints);
    if (side == Side::sluice) return;
    MPI_Info_set(info, "sluice", "disable");
    set_hints(info, run.options.peer_hints);
}

Hints::Hints(std::vector<std::string> const& common, std::vector<std::string> const& own) {
    MPI_Info_create(&info);
    set_hints(info, common);
    set_hints(info, own);
}

MPI_File open_file(std::string const& path, int mode, MPI_Info info) {
    auto const open = is_the_mpis_own(info) ? PMPI_File_open : MPI_File_open;
    MPI_File handle = MPI_FILE_NULL;
    check(open(MPI_COMM_WORLD, path.c_str(), mode, info, &handle), "MPI_File_open");
    return handle;
}

File::File(Run const& run, Side side, int mode)
    : handle(open_file(run.path[std::size_t(side)], mode, Hints(run, side).info)) {}

File::~File() { MPI_File_close(&handle); }

void remove_files(Run const& run) {
    wait_for_all();
    if (run.rank == 0 && !run.options.keep)
        for (auto const& path : run.path) ::unlink(path.c_str());
    wait_for_all();
}

void remove_file(Run const& run, std::string const& path) {
    wait_for_all();
    if (run.rank == 0) ::unlink(path.c_str());
    wait_for_all();
}

void expect_measurements(Run const& run, std::size_t measurements, std::size_t others) {
    run.progress->expect(int(measurements) * (run.options.warmup + run.options.repeat) +
                         int(others));
}

void take_turns(Run const& run, std::string const& label, std::size_t contenders,
                std::function<void(std::size_t, int)> const& measure) {
    for (int repeat = -run.options.warmup; repeat < run.options.repeat; ++repeat) {
        run.progress->step(
            text_of("%s: %d of %d", label.c_str(), std::max(repeat + 1, 1), run.options.repeat));
        // A B, B A, A B ...: whoever comes later finds warmer caches.
        for (std::size_t turn = 0; turn < contenders; ++turn)
            measure(repeat % 2 == 0 ? turn : contenders - 1 - turn, repeat);
    }
    run.progress->wipe();
}

PerSide measure_in_turn(Run const& run, std::string const& label,
                        std::function<double(Side, int)> const& measure) {
    PerSide seconds;
    auto const sides = run.sides();
    take_turns(run, label, sides.size(), [&](std::size_t i, int repeat) {
        double const taken = measure(sides[i], repeat);
        if (repeat >= 0) seconds[std::size_t(sides[i])].push_back(taken);
    });
    return seconds;
}

}  // namespace sluice::bench
