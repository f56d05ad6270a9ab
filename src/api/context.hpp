// The collectives of one communicator: its name in messages, its ranks in the fabric, the schedules
// that it remembers and the operations that are under way. Kept as an attribute of the
// communicator.
#pragma once
#include "api/progress.hpp"
#include "core/collectives/collective.hpp"
#include "run/collective.hpp"

#include <memory>
#include <mpi.h>

namespace sluice {

class Context {
public:
    virtual ~Context() = default;

    /// Of an intracommunicator; null, on all of its ranks, where the MPI has to serve it: an
    /// intercommunicator, ranks outside of the fabric, SLUICE=off. With SLUICE_COLLECTIVES=1 local
    /// and returns at once; else the first call on a communicator is collective and blocks.
    [[nodiscard]] static std::shared_ptr<Context> of(MPI_Comm communicator);

    /// Begins. Collective, in the same order as other calls on the communicator; local, returns at
    /// once. Sizes and memory are kept until the operation is complete, what lies in it is not
    /// copied. Nobody has to call anything for its progress.
    [[nodiscard]] virtual std::shared_ptr<CollectiveState> start(CollectiveCall const& call,
                                                                 CollectiveBuffers buffers) = 0;
    /// Until it is complete; the calling thread moves it on.
    virtual void wait(CollectiveState const& state) = 0;

    [[nodiscard]] virtual Rank self() const noexcept = 0;
    [[nodiscard]] virtual Rank ranks() const noexcept = 0;
};

}  // namespace sluice
