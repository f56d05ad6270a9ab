// What a few noisy measurements say: their middle, and the straight line that they lie along. Pure.
// Used by `sluice calibrate`.
#pragma once
#include <span>
#include <vector>

namespace sluice {

/// The middle value; of an even number the mean of the two in the middle. 0 of none.
[[nodiscard]] double median_of(std::vector<double> values);

/// This share of the values is below: what a machine takes while little disturbs it. Other programs
/// only ever make times longer. 0 of none.
[[nodiscard]] double low_of(std::vector<double> values, double share = 0.25);

/// A time that was measured for an amount.
struct Sample {
    double amount = 0, seconds = 0;
};

/// start + amount * each.
struct StraightLine {
    double start = 0, each = 0;
};

/// By least squares of the relative errors, so that short times count as much as long ones.
/// Neither part is negative: where it would be it is 0, and the other one fits by itself. Of one
/// sample, or of several of one amount: all of it is `start`.
[[nodiscard]] StraightLine line_through(std::span<Sample const> samples);

/// The medians of the samples of each amount, by growing amount: outliers do not bend the line.
[[nodiscard]] std::vector<Sample> medians_of(std::span<Sample const> samples);

}  // namespace sluice
