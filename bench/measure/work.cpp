// A chain of dependent multiplications, and how fast this machine runs it with every rank busy.
#include "bench/measure/work.hpp"

#include <algorithm>
#include <vector>

#include "bench/measure/report.hpp"

namespace sluice::bench {

void compute(std::uint64_t iterations) {
    static volatile std::uint64_t sink = 1;
    std::uint64_t x = sink;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        x ^= x >> 29;  // without it a clever compiler could skip ahead
    }
    sink = x;
}

namespace {

double time_of(Work const& work, std::uint64_t iterations) {
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(time_together([&] { work(iterations); }));
    return summary_of(seconds).median;
}

}  // namespace

std::uint64_t iterations_lasting(double seconds, Work const& work) {
    constexpr double long_enough = 0.1;  // many time slices of the scheduler
    std::uint64_t sample = std::uint64_t{1} << 20;
    while (time_together([&] { work(sample); }) < long_enough) sample *= 2;
    double const proportional = double(sample) / time_of(work, sample) * seconds;
    double iterations = proportional;
    // A bound on the correction: below a time slice the fit would follow mere chance.
    for (int turn = 0; turn < 2; ++turn)
        iterations = std::clamp(iterations * seconds / time_of(work, std::uint64_t(iterations) + 1),
                                proportional / 2, proportional * 2);
    return std::uint64_t(iterations) + 1;
}

}  // namespace sluice::bench
