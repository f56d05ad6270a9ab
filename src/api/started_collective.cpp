// Preparing and starting. See started_collective.hpp.
#include "api/started_collective.hpp"

#include "ports/mpi_status.hpp"

namespace sluice {

int prepare(CollectiveArguments const& arguments, PreparedCollective& into) {
    into.context = Context::of(arguments.communicator);
    if (!into.context) return MPI_SUCCESS;
    Context& context = *into.context;
    CollectiveCall call;
    Captured const done = capture(arguments, context.communicator(), context.team(), context.self(),
                                  context.ranks(), call, into.stage.buffers);
    if (done.error != MPI_SUCCESS) return context.communicator().raise(done.error);
    if (done.is_left_to_mpi) {
        into.context = nullptr;
        return MPI_SUCCESS;
    }
    context.ask_for_name(arguments.communicator);
    into.stage.plan = context.plan_for(call);
    return MPI_SUCCESS;
}

StartedCollective::StartedCollective(PreparedCollective&& prepared)
    : context_(std::move(prepared.context)),
      reduction_(prepared.stage.buffers.own),
      state_(context_->start(std::move(prepared.stage))) {}

int StartedCollective::raise() const {
    Status const status = state_->status();
    return status == Status::ok ? MPI_SUCCESS : context_->communicator().raise(error_class(status));
}

}  // namespace sluice
