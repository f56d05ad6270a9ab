// Turns, time and computation. See measuring.hpp.
#include "study/collective/measuring.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "bench/measure/work.hpp"

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

Work Work::lasting(double seconds, bool asleep) {
    constexpr double calibrated = 0.02;
    Work work;
    if (asleep) {
        static int const precise = prctl(PR_SET_TIMERSLACK, 1);
        work.asleep_ = precise == 0 ? seconds : 0;
        return work;
    }
    static double const a_second = double(bench::iterations_lasting(calibrated)) / calibrated;
    work.iterations_ = std::uint64_t(std::max(seconds, 0.0) * a_second);
    return work;
}

void Work::part(std::uint64_t parts) const {
    if (asleep_ == 0) return bench::compute(iterations_ / parts);
    double const seconds = asleep_ / double(parts), whole = std::floor(seconds);
    timespec const time{time_t(whole), long((seconds - whole) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
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

void make_call(Stopwatch& watch, Way const& way, int tests, Work const& work) {
    watch.timed(&Spent::initiation, way.start);
    if (way.blocks()) return work.part(1);
    if (tests > 0) watch.timed(&Spent::testing, way.test);
    auto const pieces = std::uint64_t(std::max(tests - 1, 1));
    for (std::uint64_t i = 0; i < pieces; ++i) {
        work.part(pieces);
        if (tests > 1) watch.timed(&Spent::testing, way.test);
    }
    watch.timed(&Spent::waiting, way.wait);
}

}  // namespace

Spent spend(Way const& way, int calls, int tests, Work const& work) {
    Stopwatch watch;
    bench::start_together();
    double const begin = now();
    if (work.empty() && tests == 0)  // Nothing but the call: no clock is read in between.
        for (int i = 0; i < calls; ++i) way.run();
    else
        for (int i = 0; i < calls; ++i) make_call(watch, way, tests, work);
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
    spend(way, few);
    double const one = spend(way, few).whole;
    return int(std::clamp(wanted / std::max(one, 1e-9), 2.0, double(most)));
}

void for_each_kind(Job& job, std::vector<std::string> const& usual,
                   std::vector<std::uint64_t> const& usual_bytes,
                   std::function<void(Budget&, std::string const&, std::uint64_t)> const& measure) {
    auto const& kinds = job.options.kinds.empty() ? usual : job.options.kinds;
    auto const& sizes = job.options.bytes.empty() ? usual_bytes : job.options.bytes;
    Budget budget(job, kinds.size() * sizes.size());
    for (auto const& kind : kinds) {
        for (auto const bytes : sizes) {
            bool const is_barrier = kind == "barrier";
            if (is_barrier && bytes != sizes.front()) continue;
            if (budget.has_time()) measure(budget, kind, is_barrier ? 0 : bytes);
        }
    }
}

}  // namespace sluice::collectives
