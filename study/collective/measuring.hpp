// What the measurements of collectives share: options, turns within a time that was set, and the
// computation that calls hide behind.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bench/measure/bench.hpp"
#include "bench/measure/progress.hpp"
#include "bench/measure/report.hpp"
#include "study/collective/codec.hpp"
#include "study/collective/kinds.hpp"

namespace sluice::collectives {

struct Options {
    std::vector<std::string> what{"overhead"};  ///< Of `sluice bench overhead`.
    std::vector<std::string> kinds;             ///< None: what the measurement finds suitable.
    std::vector<std::string> ways;              ///< None: all; the blocking one is always there.
    std::vector<std::uint64_t> bytes;           ///< Of a block, likewise.
    std::vector<std::uint64_t> intervals{0, 1024, 2048, 4096, 8192};
    int tests = 0;               ///< Overlap: during one computation.
    bool computing = false;      ///< Network, barrier: a thread of each rank computes meanwhile.
    bool asleep = false;         ///< Ranks sleep where they would compute.
    double seconds = 60;         ///< For all there is to measure.
    int repeat = 15, least = 3;  ///< Turns; fewer where time is short.
    std::string json, link;
    bool progress = false;
    // `sluice bench kernels`:
    std::vector<std::string> kernels{"compression", "fft-slab", "fft-pencil"};
    std::string file;                                      ///< To compress; empty: made-up text.
    std::uint64_t text_bytes = std::uint64_t{16} << 20;    ///< Of made-up text.
    std::uint64_t chunk_bytes = std::uint64_t{256} << 10;  ///< Compressed at a time by a rank.
    std::string codec = default_codec();
    int level = 0;        ///< 0: the codec's usual one.
    int points = 128;     ///< Of the transform, in each direction.
    int fields = 3;       ///< Transforms in one pipeline.
    int tiles = 16;       ///< Of one transposition.
    int outstanding = 2;  ///< Operations at a time.
};

/// One run of the program, the same on every rank.
struct Job {
    Options options;
    bool failed = false;  ///< Something that was asked for cannot be measured.
    bench::Run run;       ///< Its report and progress; its own options are those of a report.

    [[nodiscard]] bench::Report& report() const { return *run.report; }
    [[nodiscard]] std::vector<std::string> ways() const {
        return options.ways.empty() ? nonblocking_way_names() : options.ways;
    }
    void count_wrong(std::uint64_t bytes) { run.wrong_bytes += bytes; }
};

/// The time that is left, divided among the parts that are left.
class Budget {
public:
    Budget(Job& job, std::size_t parts);
    Budget(Budget const&) = delete;
    Budget& operator=(Budget const&) = delete;
    ~Budget();  ///< Tells how many parts were left out.

    /// Collective. Whether there is time for one more part; else that is left out.
    bool has_time();
    /// Collective. Calls `measure(contender, turn)` for each contender in turn, in another order
    /// each time, until there are as many turns as were asked for or the part's time is over. Turns
    /// below 0 are to warm up.
    void part(std::string const& label, std::size_t contenders,
              std::function<void(std::size_t, int)> const& measure);

private:
    Job& job_;
    double end_;
    std::size_t parts_, left_out_ = 0;
};

/// Collective. Calls `measure(budget, kind, bytes of a block)` for each kind and size that was
/// asked for, or of these, while there is time. A barrier has one size, 0.
void for_each_kind(Job& job, std::vector<std::string> const& usual,
                   std::vector<std::uint64_t> const& usual_bytes,
                   std::function<void(Budget&, std::string const&, std::uint64_t)> const& measure);

/// What a program does while its calls are under way.
class Work {
public:
    Work() = default;
    /// Collective. A computation of so many seconds; asleep: the rank sleeps instead, as if there
    /// were a core to spare for whoever moves its data.
    static Work lasting(double seconds, bool asleep);
    /// One of so many equal parts.
    void part(std::uint64_t parts) const;
    [[nodiscard]] bool empty() const { return iterations_ == 0 && asleep_ == 0; }

private:
    std::uint64_t iterations_ = 0;
    double asleep_ = 0;
};

/// Seconds of one call, of the slowest rank.
struct Spent {
    double initiation = 0, testing = 0, waiting = 0;
    double overhead = 0;  ///< All three.
    double whole = 0;     ///< With the computation.
};

/// Collective. As many calls one after the other: with a computation between start and wait, and
/// tests at equal distances in it, the first at its begin and the last at its end.
Spent spend(Way const& way, int calls, int tests = 0, Work const& work = {});

/// Collective. Calls that fill a few milliseconds, in this way.
int calls_of(Way const& way);

/// One column of samples.
template <class Sample>
bench::Summary summary_of(std::vector<Sample> const& samples, double Sample::* quantity) {
    std::vector<double> values;
    for (auto const& sample : samples) values.push_back(sample.*quantity);
    return bench::summary_of(std::move(values));
}

void measure_overhead(Job& job);
void measure_blocking(Job& job);
void measure_overlap(Job& job);
void measure_messages(Job& job);
void measure_queues(Job& job);
void measure_network(Job& job);
void measure_barriers(Job& job);
void measure_multicast(Job& job);

void measure_compression(Job& job);
void measure_fft(Job& job, bool pencils);

}  // namespace sluice::collectives
