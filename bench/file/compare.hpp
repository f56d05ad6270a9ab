// Mode compare: what it measures (mode_compare.cpp) and how it is told (compare_report.cpp).
#pragma once
#include <map>

#include "bench/file/contender.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {

// Names of contenders, also in JSON lines.
inline constexpr char const *sluice_name = "sluice", *default_name = "default",
                            *best_name = "best hints", *thread_name = "thread",
                            *by_hand_name = "by hand", *limit_name = "limit";
// Of memory on a GPU: the same call of Sluice's from memory of the host, and copies by hand before
// Sluice's call or the MPI's own.
inline constexpr char const *host_name = "host", *pinned_name = "pinned",
                            *pageable_name = "pageable", *default_pinned_name = "default-pinned";

/// What --contenders may name, with buffers on a GPU or on the host.
[[nodiscard]] std::vector<std::string> contender_words(bool on_device);

/// What one contender did with one pattern in one direction. Seconds, one entry a sample.
struct Score {
    std::string contender, hints;
    std::vector<double> first;       ///< Open, set the view, first call: of a file not seen before.
    std::vector<double> first_call;  ///< The first call alone.
    std::vector<double> repeated;
    std::uint64_t wrong = 0;
};

struct Comparison {
    std::string pattern, direction;
    std::uint64_t bytes = 0;   ///< Of a rank, on average.
    std::uint64_t pieces = 0;  ///< Of all ranks together.
    std::vector<Score> scores;

    [[nodiscard]] Score const* score(std::string const& contender) const;
};

void start_comparisons(Run const& run);
/// Prints and records one comparison, and takes account of wrong bytes for the exit code.
void report_comparison(Run& run, Comparison const& comparison);
/// The means over the patterns that decide, and what they should be.
void report_means(Run const& run, std::vector<Comparison> const& all);

}  // namespace sluice::bench
