// Turns, time and computation. See measuring.hpp.
#include "tools/collectives/measuring.hpp"

#include <algorithm>
#include <cmath>

#include "tools/bench/work.hpp"

namespace sluice::collectives {

using bench::now;

Budget::Budget(Job& job, std::size_t parts)
    : job_(job),
      end_(now() + job.options.seconds),
      parts_(parts) {
    job.run.progress->expect(int(parts));
}

Budget::~Budget() {
    if (left_out_ == 0) return;
    job_.report().note(bench::text_of("left out, because the time was over: %zu", left_out_));
}

bool Budget::has_time() {
    if (bench::max_over_ranks(now() - end_) < 0) return true;
    ++left_out_;
    return false;
}

void Budget::part(std::string const& label, std::size_t contenders,
                  std::function<void(std::size_t, int)> const& measure) {
    job_.run.progress->part(label);
    job_.run.progress->step(label);
    double const begin = now(), share = (end_ - begin) / double(std::max<std::size_t>(parts_, 1));
    if (parts_ > 0) --parts_;
    auto const& o = job_.options;
    for (int turn = -1; turn < o.repeat; ++turn) {
        for (std::size_t i = 0; i < contenders; ++i)
            measure((i + std::size_t(turn + 1)) % contenders, turn);
        bool const over = bench::max_over_ranks(now() - begin) > share;
        if (over && turn + 1 >= std::min(o.least, o.repeat)) break;
    }
    job_.run.progress->wipe();
}

std::uint64_t iterations_for(double seconds) {
    constexpr double calibrated = 0.02;
    static double const a_second = double(bench::iterations_lasting(calibrated)) / calibrated;
    return std::uint64_t(std::max(seconds, 0.0) * a_second);
}

namespace {

/// This rank's seconds, of all calls.
struct Stopwatch {
    Spent spent;

    template <typename Action> void timed(double Spent::* part, Action const& action) {
        double const begin = now();
        action();
        spent.*part += now() - begin;
    }
};

void make_call(Stopwatch& watch, Way const& way, int tests, std::uint64_t iterations) {
    watch.timed(&Spent::initiation, way.start);
    if (way.blocks()) return bench::compute(iterations);
    if (tests > 0) watch.timed(&Spent::testing, way.test);
    auto const pieces = std::uint64_t(std::max(tests - 1, 1));
    for (std::uint64_t i = 0; i < pieces; ++i) {
        bench::compute(iterations / pieces);
        if (tests > 1) watch.timed(&Spent::testing, way.test);
    }
    watch.timed(&Spent::waiting, way.wait);
}

}  // namespace

Spent spend(Way const& way, int calls, int tests, std::uint64_t iterations) {
    Stopwatch watch;
    bench::start_together();
    double const begin = now();
    if (iterations == 0 && tests == 0)  // Nothing but the call: no clock is read in between.
        for (int i = 0; i < calls; ++i) way.run();
    else
        for (int i = 0; i < calls; ++i) make_call(watch, way, tests, iterations);
    auto& spent = watch.spent;
    spent.whole = bench::span_over_ranks(begin, now());
    spent.overhead = spent.initiation + spent.testing + spent.waiting;
    for (auto const part : {&Spent::initiation, &Spent::testing, &Spent::waiting, &Spent::overhead})
        spent.*part = bench::max_over_ranks(spent.*part);
    for (auto const part :
         {&Spent::initiation, &Spent::testing, &Spent::waiting, &Spent::overhead, &Spent::whole})
        spent.*part /= calls;
    return spent;
}

int calls_of(Way const& way) {
    constexpr double wanted = 2e-3;
    constexpr int few = 3, most = 1000;
    spend(way, few, 0, 0);
    double const one = spend(way, few, 0, 0).whole;
    return int(std::clamp(wanted / std::max(one, 1e-9), 2.0, double(most)));
}

}  // namespace sluice::collectives
