// Medians and least squares. See regression.hpp.
#include "bench/measure/regression.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

/// Sums over samples, each weighted by one over its time squared.
struct Moments {
    double one = 0, amount = 0, squared = 0, seconds = 0, product = 0;

    explicit Moments(std::span<Sample const> samples) {
        for (Sample const& s : samples) {
            if (s.seconds <= 0) continue;  // No clock says so: it was too short for it.
            double const weight = 1 / (s.seconds * s.seconds);
            one += weight;
            amount += weight * s.amount;
            squared += weight * s.amount * s.amount;
            seconds += weight * s.seconds;
            product += weight * s.amount * s.seconds;
        }
    }
};

}  // namespace

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    std::size_t const middle = values.size() / 2;
    if (values.size() % 2 == 1) return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

double low_of(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

StraightLine line_through(std::span<Sample const> samples) {
    Moments const m(samples);
    if (m.one <= 0) return {};
    double const spread = m.one * m.squared - m.amount * m.amount;
    constexpr double rounding = 1e-12;
    if (spread <= rounding * m.one * m.squared) return {m.seconds / m.one, 0};
    double const each = (m.one * m.product - m.amount * m.seconds) / spread;
    double const start = (m.seconds - each * m.amount) / m.one;
    if (each < 0) return {m.seconds / m.one, 0};
    if (start < 0) return {0, m.product / m.squared};
    return {start, each};
}

std::vector<Sample> medians_of(std::span<Sample const> samples) {
    std::map<double, std::vector<double>> by_amount;
    for (Sample const& s : samples) by_amount[s.amount].push_back(s.seconds);
    std::vector<Sample> medians;
    for (auto& [amount, seconds] : by_amount)
        medians.push_back({amount, median_of(std::move(seconds))});
    return medians;
}

}  // namespace sluice
