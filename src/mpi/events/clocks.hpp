// How far the clocks of a job's nodes differ. On a node all ranks have one clock.
#pragma once
#include "events/part.hpp"

#include <mpi.h>

namespace sluice {

/// Communicators for measuring; null ones measure nothing.
class NodeClocks {
public:
    NodeClocks() = default;
    /// Collective.
    explicit NodeClocks(MPI_Comm world);
    /// Round trips between rank 0 and one rank of each other node; that with the shortest time
    /// tells the offset, and half of its time is the most that can be wrong. Collective.
    [[nodiscard]] TraceClock measure() const;
    void free();

private:
    MPI_Comm node_ = MPI_COMM_NULL, leaders_ = MPI_COMM_NULL;
};

}  // namespace sluice
