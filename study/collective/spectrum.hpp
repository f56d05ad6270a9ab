// What a transform is given, and what has to come out.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

namespace sluice::collectives {

using Number = std::complex<double>;

/// A number for each place, as if by chance.
Number noise(std::uint64_t place);

/// Up to 128 points in each direction: noise, and its transform in series. Beyond: a few waves and
/// nothing else, so that what comes out is known at any size.
class Spectrum {
public:
    explicit Spectrum(int points);

    [[nodiscard]] Number input(int x, int y, int z) const;
    [[nodiscard]] Number output(int x, int y, int z) const;
    [[nodiscard]] double tolerance() const;

private:
    struct Wave {
        int x, y, z;
        Number amplitude;
    };
    [[nodiscard]] std::size_t place(int x, int y, int z) const {
        auto const points = std::size_t(points_);
        return (std::size_t(x) * points + std::size_t(y)) * points + std::size_t(z);
    }

    int points_;
    std::vector<Wave> waves_;
    std::vector<Number> turns_;   ///< Of a circle, by points.
    std::vector<Number> series_;  ///< The whole output; empty: waves.
};

}  // namespace sluice::collectives
