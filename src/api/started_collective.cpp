// Preparing and starting. See started_collective.hpp.
#include "api/started_collective.hpp"

#include "ports/mpi_status.hpp"

namespace sluice {

int prepare(CollectiveArguments const& arguments, PreparedCollective& into) {
    into.context = Context::of(arguments.communicator);
    if (!into.context) return MPI_SUCCESS;
    into.communicator = Communicator::of(arguments.communicator);
    Context const& context = *into.context;
    Captured const done = capture(arguments, *into.communicator, context.team(), context.self(),
                                  context.ranks(), into.captured);
    if (done.error != MPI_SUCCESS) return into.communicator->raise(done.error);
    if (done.is_left_to_mpi) into.context = nullptr;
    return MPI_SUCCESS;
}

StartedCollective::StartedCollective(PreparedCollective prepared)
    : context_(std::move(prepared.context)),
      communicator_(std::move(prepared.communicator)),
      reduction_(prepared.captured.buffers.own),
      state_(context_->start(prepared.captured.call, std::move(prepared.captured.buffers),
                             std::move(prepared.then))) {}

int StartedCollective::raise() const {
    Status const status = state_->status();
    return status == Status::ok ? MPI_SUCCESS : communicator_->raise(error_class(status));
}

}  // namespace sluice
