// A StartedCollective is a collective between memories that is under way. The interposed functions
// and those of sluice.h make it from the arguments of a call.
#pragma once
#include "mpi/collective/collective_arguments.hpp"
#include "mpi/collective/communicator_collectives.hpp"
#include "mpi/requests/requests.hpp"

namespace sluice {

/// A collective that can be started, any number of times.
struct PreparedCollective {
    std::shared_ptr<CommunicatorCollectives> context;  ///< Null: the MPI has to serve it.
    CollectiveStage stage;
    bool input_on_device = false, output_on_device = false;  ///< Each start stages them.
    /// Called once the collective is complete, by a thread of the program, where memory of the host
    /// has what was received; null: it has come to its place.
    std::function<Error()> bring_back;
};

/// Whether what is prepared is started at once, or by each start of a persistent request.
enum class Starts { now, later };

/// Returns an error class, after the communicator's handler. Where it is the first use of a
/// communicator, CommunicatorCollectives::of() may be collective. With buffers that share memory
/// and Starts::now the call goes on without the program, on copies, so that ranks whose buffers are
/// right end.
int prepare(CollectiveArguments const& arguments, PreparedCollective& into, Starts starts);

class StartedCollective final : public Started {
public:
    /// Starts it. Where memory lies on a device it blocks until that has made a copy, as finish()
    /// does.
    explicit StartedCollective(PreparedCollective&& prepared);

    [[nodiscard]] bool complete() const noexcept override { return state_->complete(); }
    void wait() const override { context_->wait(*state_); }
    void poke() const override { context_->poke(); }
    void finish() override;
    [[nodiscard]] Bytes bytes() const override { return 0; }
    int raise() const override;
    [[nodiscard]] CommunicatorCollectives const& context() const noexcept { return *context_; }

private:
    std::shared_ptr<CommunicatorCollectives> context_;
    std::shared_ptr<Reduction const> reduction_;  ///< Ends in a thread of the program.
    std::function<Error()> bring_back_;
    Error not_back_;  ///< What bring_back_() has met.
    std::shared_ptr<CollectiveState> state_;
};

}  // namespace sluice
