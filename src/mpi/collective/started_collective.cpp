// How a collective is prepared and started. See started_collective.hpp.
#include "mpi/collective/started_collective.hpp"

#include "mpi/collective/staged_stream.hpp"
#include "mpi/errors.hpp"
#include "system/clock.hpp"

namespace sluice {

namespace {

/// The memory of one start. What is not received stays as it was, so all of it is brought.
struct StagedStreams {
    StagedStream input, output;
};

void stage(PreparedCollective& prepared) {
    auto& [plan, buffers, next, error] = prepared.stage;
    if (!prepared.input_on_device && !prepared.output_on_device) return;
    auto const staged = std::make_shared<StagedStreams>();
    if (prepared.input_on_device) staged->input.replace(buffers.input);
    if (prepared.output_on_device) staged->output.replace(buffers.output);
    error = first_of(staged->input.fetch(), staged->output.fetch());
    buffers.kept = staged;
    prepared.bring_back = [staged] { return staged->output.bring_back(); };
}

std::function<Error()> bring_back_of(PreparedCollective& prepared) {
    stage(prepared);
    return std::move(prepared.bring_back);
}

/// A call that was refused on this rank, for the sake of ranks whose calls are right. Where none of
/// them has called, MPI_Finalize does not wait for them for ever.
class ForOthers final : public Started {
public:
    explicit ForOthers(PreparedCollective&& prepared) : started_(std::move(prepared)) {}

    [[nodiscard]] bool complete() const noexcept override { return started_.complete(); }
    void wait() const override {
        constexpr double patience_seconds = 5;
        SteadyClock clock;
        double const until = clock.now() + patience_seconds;
        Progress::instance().drive({.done = [&] { return complete() || clock.now() > until; },
                                    .poke = [this] { poke(); }});
    }
    void poke() const override { started_.poke(); }
    [[nodiscard]] Bytes bytes() const override { return started_.bytes(); }
    int raise() const override { return MPI_SUCCESS; }

private:
    StartedCollective started_;
};

/// What this rank sends goes to the others as it is now; what it receives goes nowhere.
void serve_others(PreparedCollective prepared) {
    stage(prepared);
    prepared.input_on_device = prepared.output_on_device = false;
    auto& buffers = prepared.stage.buffers;
    auto const sent = static_cast<std::size_t>(buffers.input.bytes());
    Bytes const received = buffers.output.bytes();
    auto const memory =
        std::make_shared<std::vector<std::byte>>(sent + static_cast<std::size_t>(received));
    buffers.input.pack(0, std::span(*memory).first(sent));
    buffers.input.clear();
    buffers.output.clear();
    buffers.input.add(memory->data(), static_cast<Bytes>(sent));
    buffers.output.add(memory->data() + sent, received);
    buffers.kept = memory;
    abandon(std::make_unique<ForOthers>(std::move(prepared)));
}

}  // namespace

int prepare(CollectiveArguments const& arguments, PreparedCollective& into, Starts starts) {
    into.context = CommunicatorCollectives::of(arguments.communicator);
    if (!into.context) return MPI_SUCCESS;
    CommunicatorCollectives& context = *into.context;
    CollectiveCall call;
    Captured const done = capture(arguments, context.communicator(), context.team().communicator,
                                  context.self(), context.ranks(), call, into.stage.buffers);
    if (done.error != MPI_SUCCESS) return context.communicator().raise(done.error);
    if (done.is_left_to_mpi) {
        into.context = nullptr;
        return MPI_SUCCESS;
    }
    into.input_on_device = done.input_on_device;
    into.output_on_device = done.output_on_device;
    context.ask_for_name(arguments.communicator);
    into.stage.plan = context.plan_for(call);
    if (!done.is_aliased) return MPI_SUCCESS;
    if (starts == Starts::now) serve_others(into);
    return context.communicator().raise(MPI_ERR_BUFFER);
}

StartedCollective::StartedCollective(PreparedCollective&& prepared)
    : context_(std::move(prepared.context)),
      reduction_(prepared.stage.buffers.own),
      bring_back_(bring_back_of(prepared)),
      state_(context_->start(std::move(prepared.stage))) {}

void StartedCollective::finish() {
    auto const bring_back = std::exchange(bring_back_, nullptr);
    if (bring_back && !state_->error()) not_back_ = bring_back();
}

int StartedCollective::raise() const {
    Error const error = first_of(state_->error(), not_back_);
    log_error("collective operation between memories", error);
    return error ? context_->communicator().raise(error_class(error.status)) : MPI_SUCCESS;
}

}  // namespace sluice
