// How much of each collective hides behind a computation of its own length, with no call between
// start and wait unless tests are asked for.
#include <algorithm>

#include "study/collective/measuring.hpp"

namespace sluice::collectives {
namespace {

using bench::Json;
using bench::text_of;

/// One turn of one way: seconds of a call.
struct Sample {
    double alone = 0, compute = 0, both = 0;
    Spent spent{};  ///< Of the call that was hidden.

    /// Of what could be hidden, the part that cost the program nothing: not all can, where the
    /// computation came out shorter than the call.
    [[nodiscard]] double hidden() const {
        double const hideable = std::min(alone, compute);
        double const least = std::max(alone, compute);
        return 1 - std::max(0.0, both - least) / hideable;
    }
};

struct Overlapped {
    Way way;
    Work work{};
    std::vector<Sample> samples{};

    [[nodiscard]] std::vector<double> column(std::function<double(Sample const&)> const& of) const {
        std::vector<double> values;
        for (auto const& sample : samples) values.push_back(of(sample));
        return values;
    }
};

Sample measure(Overlapped const& one, int calls, int tests) {
    Sample sample;
    sample.alone = spend(one.way, calls).whole;
    sample.compute = bench::time_together([&] {
                         for (int i = 0; i < calls; ++i) one.work.part(1);
                     }) /
                     calls;
    sample.spent = spend(one.way, calls, tests, one.work);
    sample.both = sample.spent.whole;
    return sample;
}

void report(Job& job, std::string const& kind, std::uint64_t bytes, int calls,
            std::vector<Overlapped> const& all) {
    Json line, ways;
    line.add("kind", kind).add_integer("bytes", bytes).add_integer("calls", std::uint64_t(calls));
    line.add_integer("tests", std::uint64_t(job.options.tests)).add("unit", "s");
    line.add("while", job.options.asleep ? "asleep" : "computing");
    bool first = true;
    for (auto const& one : all) {
        auto const summary = [&](auto const& of) { return bench::summary_of(one.column(of)); };
        auto const hidden = summary([](Sample const& s) { return s.hidden(); });
        auto const alone = summary([](Sample const& s) { return s.alone; });
        auto const compute = summary([](Sample const& s) { return s.compute; });
        auto const both = summary([](Sample const& s) { return s.both; });
        auto const start = summary([](Sample const& s) { return s.spent.initiation; });
        Json entry;
        entry.add("hidden", hidden).add("alone", alone).add("compute", compute.median);
        entry.add("both", both.median).add("initiation", start.median);
        ways.add(one.way.name.c_str(), entry);
        job.report().row({first ? kind + " " + bench::text_of_bytes(bytes) : "", one.way.name,
                          text_of_summary(alone), bench::text_of_seconds(compute.median),
                          bench::text_of_seconds(both.median),
                          text_of("%.0f %% (%.0f .. %.0f)", 100 * hidden.median, 100 * hidden.min,
                                  100 * hidden.max)});
        first = false;
    }
    job.report().record("overlap of collectives", line.add("ways", ways));
}

}  // namespace

void measure_overlap(Job& job) {
    auto const& o = job.options;
    job.report().table(
        text_of("Hidden behind %s, with %d tests", o.asleep ? "sleep" : "a computation", o.tests),
        {"what                        ", "way       ", "alone: median (min .. max)", "computation",
         "  together", "hidden (min .. max)"});
    for_each_kind(job, kind_names(), {1 << 20},
                  [&](Budget& budget, std::string const& kind, std::uint64_t bytes) {
                      Subject subject(kind, bytes);
                      std::vector<Overlapped> all;
                      for (auto const& way : subject.ways(job.ways()))
                          if (!way.blocks()) all.push_back({way});
                      if (all.empty()) return;
                      int const calls = calls_of(all.front().way);
                      for (auto& one : all)
                          one.work = Work::lasting(
                              std::max(spend(one.way, calls).whole, spend(one.way, calls).whole),
                              o.asleep);
                      budget.part("overlap of " + kind, all.size(), [&](std::size_t i, int turn) {
                          auto const sample = measure(all[i], calls, o.tests);
                          if (turn >= 0) all[i].samples.push_back(sample);
                      });
                      report(job, kind, bytes, calls, all);
                  });
}

}  // namespace sluice::collectives
