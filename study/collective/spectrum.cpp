// Noise and waves. See spectrum.hpp.
#include "study/collective/spectrum.hpp"

#include <fftw3.h>

#include <cmath>
#include <numbers>

namespace sluice::collectives {

Number noise(std::uint64_t place) {
    std::uint64_t x = place * 6364136223846793005U + 1442695040888963407U;
    x ^= x >> 31, x *= 0x9e3779b97f4a7c15U, x ^= x >> 29;
    auto const part = [](std::uint64_t bits) { return double(bits & 0xffff) / 32768 - 1; };
    return {part(x), part(x >> 16)};
}

Spectrum::Spectrum(int points)
    : points_(points),
      waves_{{1, 2, 3, {1, 0}},
             {points / 2, 0, 5, {0, 0.5}},
             {points - 1, points / 3, points / 4, {-0.25, 0.25}},
             {0, points - 2, points / 2 + 1, {0.125, -1}}} {
    constexpr int most_points_in_series = 128;
    for (int i = 0; i < points; ++i)
        turns_.push_back(std::polar(1.0, 2 * std::numbers::pi * i / points));
    if (points > most_points_in_series) return;
    auto const n = std::size_t(points);
    series_.resize(n * n * n);
    auto* const numbers = reinterpret_cast<fftw_complex*>(series_.data());
    auto* const plan =
        fftw_plan_dft_3d(points, points, points, numbers, numbers, FFTW_FORWARD, FFTW_ESTIMATE);
    for (std::size_t at = 0; at < series_.size(); ++at) series_[at] = noise(at);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

Number Spectrum::input(int x, int y, int z) const {
    if (!series_.empty()) return noise(place(x, y, z));
    auto const turn = [&](int place, int wave) {
        return turns_[std::size_t(std::int64_t(place) * wave % points_)];
    };
    Number sum = 0;
    for (auto const& w : waves_) sum += w.amplitude * turn(x, w.x) * turn(y, w.y) * turn(z, w.z);
    return sum;
}

Number Spectrum::output(int x, int y, int z) const {
    if (!series_.empty()) return series_[place(x, y, z)];
    Number sum = 0;
    for (auto const& w : waves_)
        if (w.x == x && w.y == y && w.z == z) sum += w.amplitude;
    return sum * std::pow(double(points_), 3);
}

double Spectrum::tolerance() const {
    double const all = std::pow(double(points_), 3);
    return series_.empty() ? 1e-10 * all : 1e-9 * std::sqrt(all);
}

}  // namespace sluice::collectives
