// Modes exchange, domains and choice: one access under several sets of hints in turn. What is
// tried, what one access tells, and the report. See mode_exchange.cpp, mode_domains.cpp and
// mode_choice.cpp.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "bench/file/contender.hpp"
#include "bench/measure/report.hpp"
#include "sluice/sluice.h"
#include "study/file/options.hpp"

namespace sluice::bench {

constexpr char const* library_chooses = "auto";
constexpr char const* own_calls = "the MPI's own";

struct Variant {
    std::string name, throttle;
    std::vector<std::string> hints;
};

/// Seconds of the slowest rank; below zero what nobody tells of the MPI's own calls. Copies,
/// transfers and messages are inside of the stages.
struct Sample {
    double seconds = 0;                  ///< Of the call.
    double metadata = -1;                ///< Exchange of summaries and claims.
    double data = -1, agreement = -1;    ///< Stages.
    double copies = -1, transfers = -1;  ///< Computation; to and from the file.
    double messages = -1;                ///< One was on its way or awaited.
    double sent = -1, sent_bytes = -1;   ///< Messages to other nodes, by all ranks.
    double estimated = -1, priced = -1;  ///< By the cost model, and what it was said of.
    double meeting = -1;     ///< Of the messages of the MPI's own calls: ranks wait for each other.
    double iterations = -1;  ///< Of an aggregator, in the MPI's own calls.
    double wire_bytes = 0;   ///< Of the node that sent or received most.
};

struct Trial {
    Variant variant;
    std::vector<Sample> samples;
    std::string plan{};  ///< The last one, in words.
    std::uint64_t wrong = 0;
    double fastest = HUGE_VAL;  ///< Seconds, the warm-up included.
};

/// A variant that took more than so many times as long as the fastest is measured in the first
/// turns only.
struct Patience {
    double times = 0;  ///< 0: without end.
    int turns = 0;
    double seconds = 0;  ///< One that takes less is always measured: that may be chance.
};

struct Exchanged;
void report_exchange(Run& run, Exchanged const& exchanged);

struct Subject {
    char const* mode;
    char const* variant;  ///< What the variants differ in: head of a column and name in records.
    void (*report)(Run& run, Exchanged const& exchanged) = report_exchange;
    Patience patience{};
    /// A disk is sooner near the places where its last requests ended. So that these follow from
    /// the variant, and neither from the one before it nor from who compared the file, its last
    /// requests are far away and then those of the same variant, untimed.
    bool repeats = false;
};

/// One pattern in one direction, all variants.
struct Exchanged {
    std::string pattern, direction;
    std::uint64_t bytes = 0;  ///< Of one rank.
    std::vector<Trial> trials;
    Subject subject;
};

/// A file opened on all ranks with these hints; the destructor closes it (collective).
struct OpenFile {
    OpenFile(Run const& run, std::string const& path, std::vector<std::string> const& own_hints);
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    ~OpenFile() { MPI_File_close(&handle); }
    Hints hints;
    MPI_File handle = MPI_FILE_NULL;
};

/// Bytes that this host has sent and received through its network so far, but for itself; zeros
/// where the system does not tell.
struct WireCounters {
    std::uint64_t sent = 0, received = 0;
};
WireCounters wire_counters();
double most_moved(WireCounters const& before, WireCounters const& after);

/// What the library tells of this file so far; zeros of the MPI's own.
sluice_statistics statistics_of(MPI_File file);
/// Collective. Adds what the library tells of the operations on this file since `before`.
void observe(MPI_File file, Sample& sample, std::string& plan,
             sluice_statistics const& before = {});
/// Median and ends of what was measured and told, each under its name.
void add_samples(Json& line, std::vector<Sample> const& samples);

/// "groups:2" of the command line, as hints; "none": no exchange.
std::vector<std::string> division_hints(std::string const& words);

/// All patterns and directions of the options, each with all variants.
void measure_variants(Run& run, Subject const& subject, std::vector<Variant> const& variants);

std::vector<double> values_of(Trial const& trial, double Sample::* quantity);
Summary summary_of(Trial const& trial, double Sample::* quantity);

}  // namespace sluice::bench
