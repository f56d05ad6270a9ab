// Three-dimensional Fourier transforms of complex numbers, divided among ranks in slabs or pencils.
// Their all-to-alls go tile by tile: one is started as soon as its tile is transformed in one
// direction, and while it is under way its neighbours are transformed in this one and the next.
// Several fields, as the components of a velocity, are one pipeline: what comes before the messages
// of one field is computed during those of another.
#pragma once
#include <cstdint>
#include <memory>

#include "study/collective/service.hpp"

namespace sluice::collectives {

/// Which rank has what: a grid of `rows` x `columns` ranks; x is divided among rows, y (later z)
/// among columns. One column: slabs.
struct Grid {
    int points = 0;  ///< In each direction; a multiple of rows and of columns.
    int rows = 1, columns = 1;
    int fields = 1;  ///< That many times the same numbers, each field with a factor of its own.
    int tiles = 8, outstanding = 2;
};

class Transform {
public:
    /// Collective, as the destructor, run() and fall_asleep().
    explicit Transform(Grid const& grid);
    Transform(Transform const&) = delete;
    Transform& operator=(Transform const&) = delete;
    ~Transform();

    /// Seconds, from the same input each time. `tests`: what is under way is tested between lines.
    double run(Service& service, bool tests);

    /// Computes a few times with nobody who moves data. From then on it sleeps as long instead, and
    /// sends what has nothing to do with a transform.
    void fall_asleep();

    /// Bytes of this rank's part of the last result that are not what they should be; asleep: of
    /// what it received.
    [[nodiscard]] std::uint64_t wrong_bytes() const;

    [[nodiscard]] std::uint64_t bytes() const;  ///< Of this rank's part, of all fields.

private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::collectives
