// A communicator of the program as collectives see it: where its errors go, and who its neighbours
// are. Operations under way may outlast the communicator, and this with them.
#pragma once
#include "base/topology.hpp"

#include <atomic>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <vector>

namespace sluice {

/// Whom a rank of a virtual topology exchanges blocks with.
struct Neighbours {
    /// One partner, and which of the buffer's blocks is its.
    struct Block {
        Rank rank;
        int place;
    };
    /// So that the k-th block that is sent to a rank is the k-th that this takes from here.
    std::vector<Block> sources, destinations;
};

class Communicator {
public:
    /// Of an intracommunicator.
    explicit Communicator(MPI_Comm handle) noexcept : handle_(handle) {}

    /// Calls the error handler where `error` is one, and returns it. Once the program has freed the
    /// communicator, that of MPI_COMM_SELF.
    int raise(int error) const;
    /// Null where it has no topology.
    [[nodiscard]] Neighbours const* neighbours() const;

    /// The program frees it.
    void freed() noexcept { freed_ = true; }

private:
    MPI_Comm const handle_;
    std::atomic<bool> freed_{false};
    mutable std::once_flag once_;
    mutable std::optional<Neighbours> neighbours_;
};

}  // namespace sluice
