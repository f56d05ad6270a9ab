// Collectives between memories, from the arguments of a call to what is under way: what the
// interposed functions and those of sluice.h share.
#pragma once
#include "api/collective_arguments.hpp"
#include "api/context.hpp"
#include "api/requests.hpp"

namespace sluice {

/// A collective that can be started.
struct PreparedCollective {
    std::shared_ptr<Context> context;  ///< Null: the MPI has to serve it.
    std::shared_ptr<Communicator> communicator;
    CapturedCollective captured;
    ThenCall then;  ///< Its second stage; mostly null.
};

/// Returns an error class, after the communicator's handler. Where it is the first use of a
/// communicator, Context::of() may be collective.
int prepare(CollectiveArguments const& arguments, PreparedCollective& into);

class StartedCollective final : public Started {
public:
    /// Starts it.
    explicit StartedCollective(PreparedCollective prepared);

    [[nodiscard]] bool complete() const noexcept override { return state_->complete(); }
    void wait() const override { context_->wait(*state_); }
    void poke() const override { communicator_->poke(); }
    [[nodiscard]] Bytes bytes() const override { return 0; }
    int raise() const override;

private:
    std::shared_ptr<Context> context_;
    std::shared_ptr<Communicator> communicator_;
    std::shared_ptr<Reduction const> reduction_;  ///< Ends in a thread of the program.
    std::shared_ptr<CollectiveState> state_;
};

}  // namespace sluice
