// A three-dimensional Fourier transform of complex numbers, divided among ranks in slabs or
// pencils. Its all-to-alls go tile by tile: one is started as soon as its tile is transformed in
// one direction, and while it is under way its neighbours are transformed in this one and the next.
#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "tools/collectives/service.hpp"

namespace sluice::collectives {

/// Which rank has what: a grid of `rows` x `columns` ranks; x is divided among rows, y (later z)
/// among columns. One column: slabs.
struct Grid {
    int points = 0;  ///< In each direction; a multiple of rows and of columns.
    int rows = 1, columns = 1;
    int tiles = 8, outstanding = 2;
};

class Transform {
public:
    /// Collective, as the destructor and run().
    explicit Transform(Grid const& grid);
    Transform(Transform const&) = delete;
    Transform& operator=(Transform const&) = delete;
    ~Transform();

    /// Seconds, from the same input each time. `tests`: what is under way is tested between lines.
    double run(Service& service, bool tests);

    /// Bytes of this rank's part of the last result that are not what they should be.
    [[nodiscard]] std::uint64_t wrong_bytes() const;

    [[nodiscard]] std::uint64_t bytes() const;  ///< Of this rank's part.

private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::collectives
