// Options and modes that the study of the papers has beside those of sluice-bench.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/bench.hpp"

namespace sluice::bench {

struct StudyOptions {
    /// Mode exchange: how messages get to the aggregators, as its hints say it, '+' for ','.
    std::vector<std::string> kernels{"one-layer+ascending",  "one-layer+ascending+synchronous",
                                     "one-layer+pairwise",   "one-layer+spread-out",
                                     "one-layer+balanced",   "two-layer+ascending",
                                     "two-layer+spread-out", "two-layer+balanced"};
    std::vector<std::string> throttles{"0", "1", "2", "4", "8", "16", "32", "64"};
    std::string throttled_kernel = "one-layer+balanced";
    /// Modes domains, choice: as the hints say it; groups:2 is with that word of sluice_exchange.
    /// None: the mode's own.
    std::vector<std::string> divisions;
    std::vector<std::uint64_t> aggregators{1, 2, 4};  ///< Mode choice.
    std::vector<std::uint64_t> windows{256 << 10, 1 << 20, 4 << 20};
    // Mode app:
    std::vector<std::string> applications{"ior"};
    std::vector<std::string> ways{"posix",      "mpi-individual", "mpi-collective",
                                  "individual", "collective",     "auto"};
    std::uint64_t transfer = std::uint64_t{1} << 20;  ///< Bytes of one call.
    int parts = 0;                                    ///< Segments, matrices, queries; 0: as usual.
    std::vector<std::string> collective_hints;        ///< key=value, of the collective ways.
    bool sync = false;     ///< What was written is on the device at the end of a step.
    bool reserve = false;  ///< Files have their space before the processes join the cgroup.
    std::string cgroup;    ///< Folder; each process joins when its memory is set up.
    std::string cache;     ///< What is known of the page cache; for the record.
    double skew = 0.5;     ///< Mode skew: by how much computation is longer or shorter, at most.
};

/// Those of this program, the same on every rank.
StudyOptions& study_options();

void mode_exchange(Run& run);
void mode_domains(Run& run);
void mode_choice(Run& run);
void mode_app(Run& run);
void mode_skew(Run& run);

}  // namespace sluice::bench
