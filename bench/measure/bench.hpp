// What all modes of sluice-bench share: options, the pair of files under test, timing, and the loop
// that measures the two in turn. "Sluice" is the file that a preloaded Sluice serves, "peer" the
// one with the hint sluice=disable, of which Sluice learns nothing.
#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/measure/timing.hpp"

namespace sluice::bench {

struct Options {
    std::vector<std::string> modes{"blocking"};
    std::vector<std::string> patterns{"all"};
    std::vector<std::string> directions{"write", "read"};
    std::vector<std::uint64_t> bytes;  ///< Of one rank; none: what the mode finds suitable.
    std::uint64_t piece = 64;          ///< Bytes of a piece, strided, irregular and random.
    std::uint64_t pattern_seed = 1;    ///< Of what is drawn: irregular, random, e3sm-f, -g, -i.
    bool published = false;            ///< Patterns btio and flash have the papers' size.
    std::string decomposition;         ///< Path; empty: the one that was installed.
    int decomposition_number = 3;
    int repeat = 7, warmup = 1;
    int first = 3;  ///< Modes compare, checkpoint: samples of a first time.
    std::vector<std::string> variants{"append", "new-file", "append-types", "new-file-types"};
    int steps = 6;         ///< Modes checkpoint, steps: of one series.
    double compute = 0.5;  ///< Mode steps: seconds of computation in each.
    int grid_repeat = 2;   ///< Mode compare: for each point of the grid of hints.
    /// Mode compare.
    std::vector<std::string> contenders;
    std::string thread_level;  ///< Empty: what the mode wants.
    int calls = 0;             ///< In one batch of modes small and open; 0: the mode's own.
    int tests = 0;             ///< Mode overlap: calls of MPI_Test during the computation.
    double late_ms = 0;        ///< Mode overlap: how late the last rank starts.
    int server = 0;            ///< Mode overlap: the process that emulates the device.
    bool ideal = false;        ///< Mode overlap: measured beside the others.
    bool in_thread = false;    ///< The same: the MPI's blocking calls in a thread.
    int operations = 16;       ///< Mode outstanding: in total.
    bool best_hints = false;   ///< The same: the peer has the best hints of the grid.
    std::vector<int> outstanding{1, 2, 4, 8, 16};
    std::string memory = "host";       ///< Or device: where buffers are.
    std::string computation = "host";  ///< Or device, or halos: of mode overlap.
    std::uint64_t halo = 64 << 10;     ///< Bytes that halos exchange with each neighbour.
    std::string link, device;          ///< What is known of them, such as "1gbit"; for the record.
    std::string directory = ".", json;
    std::vector<std::string> hints, peer_hints;  ///< key=value; both files, the peer's only.
    bool no_peer = false, keep = false, progress = false;
};

enum class Side { sluice, peer };
using PerSide = std::array<std::vector<double>, 2>;  ///< Seconds, one entry a repeat.

class Gpu;
class Report;
class Progress;

/// One run of the program, the same on every rank.
struct Run {
    Options options;
    int rank = 0, ranks = 1;
    std::array<std::string, 2> path;
    bool served = false;   ///< Sluice is loaded.
    bool threads = false;  ///< MPI_THREAD_MULTIPLE was given.
    Gpu* gpu = nullptr;    ///< Of this rank, where the options need one.
    Report* report = nullptr;
    Progress* progress = nullptr;
    std::uint64_t wrong_bytes = 0;  ///< In results that decide the exit code.

    /// Bytes of a rank for modes that take one size.
    [[nodiscard]] std::uint64_t bytes() const {
        return options.bytes.empty() ? std::uint64_t{16} << 20 : options.bytes.front();
    }

    /// Buffers are on the GPU.
    [[nodiscard]] bool on_device() const { return options.memory == "device"; }

    [[nodiscard]] std::vector<Side> sides() const {
        return options.no_peer ? std::vector{Side::sluice} : std::vector{Side::sluice, Side::peer};
    }
};

/// A file opened on all ranks; the destructor closes it (collective).
class File {
public:
    File(Run const& run, Side side, int mode = MPI_MODE_CREATE | MPI_MODE_RDWR);
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    ~File();
    MPI_File handle = MPI_FILE_NULL;
};

/// The hints of one file, freed by the destructor.
class Hints {
public:
    Hints(Run const& run, Side side);
    Hints(std::vector<std::string> const& common, std::vector<std::string> const& own);
    Hints(Hints const&) = delete;
    Hints& operator=(Hints const&) = delete;
    ~Hints() { MPI_Info_free(&info); }
    MPI_Info info = MPI_INFO_NULL;
};

/// Collective. With the hint sluice=disable past Sluice, by the name that it does not intercept: as
/// a file that it knows of and leaves to the MPI it would cost the MPI a part of what it costs to
/// open one, and have hints of Sluice's. MPI_File_close closes it.
[[nodiscard]] MPI_File open_file(std::string const& path, int mode, MPI_Info info);

/// A mode begins that calls measure_in_turn so many times, and has so many other steps.
void expect_measurements(Run const& run, std::size_t measurements, std::size_t others = 0);

/// Collective. Removes what the modes wrote, unless asked to keep it.
void remove_files(Run const& run);
/// Collective. Removes one file, in any case.
void remove_file(Run const& run, std::string const& path);

/// Calls `measure(side, repeat)` for Sluice, peer, Sluice, peer, ..., so that whatever slows the
/// machine down meets both. Returns the seconds that it gave, without the warm-up. `repeat` counts
/// from -warmup.
PerSide measure_in_turn(Run const& run, std::string const& label,
                        std::function<double(Side, int)> const& measure);

/// The same with so many contenders, of which the function is given the number.
void take_turns(Run const& run, std::string const& label, std::size_t contenders,
                std::function<void(std::size_t, int)> const& measure);

void mode_blocking(Run& run);
void mode_nonblocking(Run& run);
void mode_independent(Run& run);
void mode_small(Run& run);
void mode_open(Run& run);
void mode_memory(Run& run);
void mode_overlap(Run& run);
void mode_outstanding(Run& run);
void mode_compare(Run& run);
void mode_checkpoint(Run& run);
void mode_steps(Run& run);

}  // namespace sluice::bench
