// The overhead benchmark of "Nonblocking collectives over InfiniBand" (NBCBench, sections II-A and
// IV-C): what a call costs a program that computes as long as the blocking call takes, for
// intervals at which the program tests. Here also: start and wait alone, against the blocking call.
#include <map>

#include "study/collective/measuring.hpp"

namespace sluice::collectives {
namespace {

using bench::Json;
using bench::text_of;

/// Seconds of the computation, from a first look at the blocking call.
double blocking_seconds(Way const& blocking, int calls) {
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(spend(blocking, calls).whole);
    return bench::summary_of(seconds).median;
}

/// The paper's: one more than what fits into the message, none for interval 0.
int tests_of(std::uint64_t bytes, std::uint64_t interval) {
    return interval == 0 ? 0 : int(bytes / interval) + 1;
}

struct Contender {
    Way way;
    std::uint64_t interval = 0;
    std::vector<Spent> samples{};
};

/// The blocking call first, then each way with each interval. Where two intervals make as many
/// tests, that is, in small messages, one of them does.
std::vector<Contender> contenders_of(Job const& job, Subject const& subject, std::uint64_t bytes) {
    std::vector<Contender> all;
    for (auto const& way : subject.ways(job.ways())) {
        std::map<int, bool> tried;
        for (auto const interval : job.options.intervals) {
            if (way.blocks() && !all.empty()) break;
            if (std::exchange(tried[tests_of(bytes, interval)], true)) continue;
            all.push_back({way, interval});
        }
    }
    return all;
}

void report_overhead(Job& job, std::string const& kind, std::uint64_t bytes, int calls,
                     std::vector<Contender> const& all, std::uint64_t wrong) {
    auto const blocking = summary_of(all.front().samples, &Spent::whole);
    Json line, ways;
    line.add("kind", kind).add_integer("bytes", bytes).add_integer("calls", std::uint64_t(calls));
    line.add("unit", "s").add("blocking", blocking);
    line.add("while", job.options.asleep ? "asleep" : "computing");
    for (std::size_t i = 1; i < all.size(); ++i) {
        auto const& one = all[i];
        auto const overhead = summary_of(one.samples, &Spent::overhead);
        auto const middle = [&](double Spent::* part) {
            return summary_of(one.samples, part).median;
        };
        double const ratio = blocking.median > 0 ? overhead.median / blocking.median : 0;
        Json entry;
        entry.add("overhead", overhead).add("initiation", middle(&Spent::initiation));
        entry.add("testing", middle(&Spent::testing)).add("waiting", middle(&Spent::waiting));
        entry.add_integer("tests", std::uint64_t(tests_of(bytes, one.interval)));
        ways.add((one.way.name + " " + std::to_string(one.interval)).c_str(), entry);
        job.report().row({i == 1 ? kind + " " + bench::text_of_bytes(bytes) : "", one.way.name,
                          std::to_string(one.interval), i == 1 ? text_of_summary(blocking) : "",
                          text_of_summary(overhead), text_of("%.2f", ratio)});
    }
    line.add("ways", ways).add_integer("wrong_bytes", wrong);
    job.count_wrong(wrong);
    job.report().record("overhead", line);
}

std::uint64_t wrong_bytes(Subject& subject, std::vector<Way> const& ways) {
    std::uint64_t wrong = 0;
    for (auto const& way : ways) wrong += subject.wrong_bytes(way);
    return wrong;
}

}  // namespace

void measure_overhead(Job& job) {
    job.report().table("Overhead: initiation + tests + wait, with a computation as long as the "
                       "blocking call",
                       {"what                ", "way       ", "interval",
                        "blocking: median (min .. max)", "overhead: median (min .. max)",
                        "/ blocking"});
    for_each_kind(
        job, {"gather", "alltoall"},
        {1, 8, 64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144},
        [&](Budget& budget, std::string const& kind, std::uint64_t bytes) {
            Subject subject(kind, bytes);
            auto const wrong = wrong_bytes(subject, subject.ways(job.ways()));
            auto all = contenders_of(job, subject, bytes);
            int const calls = calls_of(all.front().way);
            auto const work =
                Work::lasting(blocking_seconds(all.front().way, calls), job.options.asleep);
            budget.part("overhead of " + kind + ", " + bench::text_of_bytes(bytes), all.size(),
                        [&](std::size_t i, int turn) {
                            auto& one = all[i];
                            auto const spent =
                                one.way.blocks()
                                    ? spend(one.way, calls)
                                    : spend(one.way, calls, tests_of(bytes, one.interval), work);
                            if (turn >= 0) one.samples.push_back(spent);
                        });
            report_overhead(job, kind, bytes, calls, all, wrong);
        });
}

namespace {

void report_blocking(Job& job, std::string const& kind, std::uint64_t bytes, int calls,
                     std::vector<Contender> const& all, std::uint64_t wrong) {
    Json line, ways;
    line.add("kind", kind).add_integer("bytes", bytes).add_integer("calls", std::uint64_t(calls));
    auto const blocking = summary_of(all.front().samples, &Spent::whole);
    line.add("unit", "s").add("blocking", blocking);
    bool first = true;
    for (auto const& one : all) {
        auto const seconds = summary_of(one.samples, &Spent::whole);
        // Turn by turn: what slows the machine down meets both.
        std::vector<double> ratios;
        for (std::size_t turn = 0; turn < one.samples.size(); ++turn)
            ratios.push_back(one.samples[turn].whole / all.front().samples[turn].whole);
        auto const ratio = bench::summary_of(ratios);
        if (!one.way.blocks()) {
            Json entry;
            entry.add("seconds", seconds).add("over_blocking", ratio);
            ways.add(one.way.name.c_str(), entry);
        }
        job.report().row({first ? kind + " " + bench::text_of_bytes(bytes) : "", one.way.name,
                          text_of_summary(seconds), text_of("%.2f", ratio.median)});
        first = false;
    }
    line.add("ways", ways).add_integer("wrong_bytes", wrong);
    job.count_wrong(wrong);
    job.report().record("collective", line);
}

}  // namespace

void measure_blocking(Job& job) {
    job.report().table("Start and wait, nothing in between, against the MPI's blocking call",
                       {"what                        ", "way       ",
                        "one call: median (min .. max)", "/ blocking"});
    for_each_kind(job, kind_names(), {8, 64, 512, 4096, 32768, 262144, 1048576},
                  [&](Budget& budget, std::string const& kind, std::uint64_t bytes) {
                      Subject subject(kind, bytes);
                      auto const ways = subject.ways(job.ways());
                      auto const wrong = wrong_bytes(subject, ways);
                      std::vector<Contender> all;
                      for (auto const& way : ways) all.push_back({way});
                      int const calls = calls_of(ways.front());
                      budget.part(kind + ", " + bench::text_of_bytes(bytes), all.size(),
                                  [&](std::size_t i, int turn) {
                                      auto const spent = spend(all[i].way, calls);
                                      if (turn >= 0) all[i].samples.push_back(spent);
                                  });
                      report_blocking(job, kind, bytes, calls, all, wrong);
                  });
}

}  // namespace sluice::collectives
