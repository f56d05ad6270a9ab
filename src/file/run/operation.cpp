// The body of Operation: what begins and ends each stage, and the operation. See operation.hpp.
#include "file/run/operation.hpp"

#include "file/plan/schedule_reduction.hpp"
#include "file/run/operation_text.hpp"

#include <utility>

namespace sluice {
namespace {

/// Id of an admitted schedule, to the executor. Those of rounds are the aggregators' numbers.
constexpr std::int32_t id_control = -1;
static_assert(id_control != IndependentPart::schedule_id);

/// The operation's kind in a trace, from the merged summary of all ranks.
TraceKind kind_of(Summary const& all, Direction way) noexcept {
    if (all.bytes + all.independent.bytes == 0) return TraceKind::operation_agree;
    return way == Direction::write ? TraceKind::operation_write : TraceKind::operation_read;
}

void take_memory(std::shared_ptr<Layout const> memory, ExchangeState& state) {
    Request& r = state.request;
    if (is_in_range(*memory, 0, 0, r.bytes, -offset_limit)) {
        r.memory = std::move(memory);
    } else {
        state.note({.status = Status::count,
                    .what = "the datatype reaches farther in memory than offsets can say"});
        r.bytes = 0;
    }
}

/// Where the program's work has failed its bytes are not there.
void take_end(DeviceWork const& work, ExchangeState& state) {
    if (!work.error()) return;
    state.note(work.error());
    state.request.bytes = 0;
}

/// What the operation gets of this node.
void offer_staging(ExecutionContext const& execution_context, Hints const& hints,
                   std::int64_t operation, Summary& s) {
    PlanLimits const& limits = execution_context.limits;
    auto const wish = wished_window_bytes(hints, limits);
    auto const many = hints.aggregator_count > 0 ? hints.aggregator_count : limits.aggregator_count;
    auto const most = std::min(std::max<std::int32_t>(many, hints.group_count),
                               execution_context.region.shape().aggregator_count);
    bool const in_turn = hints.data.kernel == Kernel::pairwise;
    auto const staging = execution_context.reserve({operation, most, wish, in_turn});
    s.cb_buffer_bytes = staging.cb_buffer_bytes;
    s.cb_buffer_count = cb_buffers_per_aggregator;
    s.staged_whole = staging.whole ? 1 : 0;
}

/// What the rank tells the others. The leader of a node reserves staging memory for it. `pending`:
/// bytes that go straight to the file may not be there yet.
Summary own_summary(ExecutionContext const& execution_context, PlanCache const& plans,
                    Call const& call, ExchangeState const& state, bool pending) {
    Summary s = summarise(state.exchanged(), scope_of(call.hints, *execution_context.topology,
                                                      execution_context.limits));
    if (state.independent) s.independent = load_of(state.request);
    if (call.ordered) s.reach = reach_of(state.request, call.reads_beyond_end);
    s.plan_lookup = plans.plan_lookup(state.exchanged());
    s.hints = call.hints;
    s.status = state.status;
    s.end_of_file = state.end_of_file;
    if (state.independent) s.pending = pending;
    s.waiting = call.may_block;
    s.foretold = call.foretold;
    if (execution_context.leads()) offer_staging(execution_context, call.hints, state.operation, s);
    return s;
}

}  // namespace

Operation::Operation(ExecutionContext& execution_context, QueueState& queue, Call&& call,
                     std::int64_t number)
    : execution_context_(execution_context),
      queue_(queue),
      call_(std::move(call)),
      executor_(execution_context, *call_.storage, state_),
      independent_(call_, state_, executor_),
      conflicts_(queue),
      planning_(execution_context, queue, state_),
      rounds_(execution_context, queue, state_, executor_),
      claims_(execution_context, queue, state_, rounds_) {
    state_.operation = number;
    state_.trace = {execution_context_.trace, number};
    state_.order = &queue_.order;
    state_.request = std::move(call_.request);
    state_.user = call_.user;
    state_.status = call_.status;
    state_.caller_transfers = call_.may_block;
    state_.writes_on = call_.ordered && state_.request.direction == Direction::write;
    if (call_.report_error) state_.report = [this] { call_.report_error(*this); };
    if (call_.status != Status::ok) state_.request.bytes = 0;
    if (!call_.find_memory) independent_.choose(execution_context_, queue_.answers);
    started_ = execution_context_.clock->now();
}

void Operation::start(Ahead const& ahead) {
    if (call_.after) take_end(*call_.after, state_);
    if (call_.find_memory) {
        take_memory(std::exchange(call_.find_memory, nullptr)(), state_);
        independent_.choose(execution_context_, queue_.answers);
    }
    enter(Stage::summary_exchange);
    state_.summaries.record =
        own_summary(execution_context_, queue_.plans, call_, state_, !independent_.is_done());
    admit_reduction(Channel::summary_exchange);
    if (independent_.may_start(ahead)) independent_.start();
}

void Operation::admit_control(Schedule&& schedule) {
    control_left_ = 1;
    executor_.admit(std::move(schedule), id_control);
}

void Operation::admit_reduction(Channel channel) {
    BoardUse const use = boards_of(channel);
    state_.board_uses_before[use] = queue_.use_board(use, number());
    admit_control(
        make_reduction(*execution_context_.topology, execution_context_.self, channel, number()));
}

bool Operation::progress(Ahead& ahead) {
    bool moved = false;
    for (bool again = true; again && !complete();) {
        again = is_ending_ ? progress_to_end(ahead) : progress_stages(ahead);
        moved |= again;
    }
    ahead.planned = planned();
    rounds_.tell_those_behind(ahead);
    if (!complete() && ahead.oldest < 0) ahead.oldest = number();
    return moved;
}

bool Operation::progress_stages(Ahead const& ahead) {
    completed_.clear();
    bool const moved = executor_.progress(completed_);
    for (std::int32_t const id : completed_) {
        if (id == id_control)
            --control_left_;
        else if (id == IndependentPart::schedule_id)
            independent_.note_done();
        else
            rounds_.completed(id);
    }
    return step(ahead) || moved;
}

/// The time since the last stage began is that stage's.
void Operation::enter(Stage next) {
    double const now = execution_context_.clock->now();
    Tally& tally = state_.tally;
    if (stage_ == Stage::summary_exchange) tally.summary_exchange += now - started_;
    if (stage_ == Stage::overlap || stage_ == Stage::weights)
        tally.summary_exchange += now - entered_;
    if (stage_ == Stage::claims) tally.claims += now - entered_;
    if (stage_ == Stage::exchange) tally.exchange += now - entered_;
    if (stage_ == Stage::agreement) tally.agreement += now - entered_;
    if (state_.trace.on())
        state_.trace.stage(kind_of(stage_), stage_ == Stage::summary_exchange ? started_ : entered_,
                           now);
    entered_ = now;
    stage_ = next;
}

/// Enters the next stage when the current one is done; true when anything happened.
bool Operation::step(Ahead const& ahead) {
    switch (stage_) {
    case Stage::summary_exchange:
        // Round numbers go on in the operation queue's order.
        if (control_left_ > 0 || !ahead.planned) return false;
        end_summary_exchange();
        return true;
    case Stage::overlap:
        if (control_left_ > 0) return false;
        end_overlap();
        if (conflicts_.must_wait_for(ahead.oldest)) return false;
        start_planned();
        return true;
    case Stage::weights:
        if (control_left_ > 0) return false;
        planning_.end_weights(summary_exchange_);
        start_decided();
        return true;
    case Stage::claims:
        if (control_left_ > 0 || !claims_.are_complete()) return rounds_.admit(ahead, false);
        enter(Stage::exchange);
        claims_.end();
        return true;
    case Stage::exchange: {
        bool const moved = rounds_.admit(ahead, true);
        if (moved || !executor_.idle() || !rounds_.all_admitted()) return moved;
        start_agreement();
        return true;
    }
    case Stage::agreement:
        if (control_left_ > 0) return false;
        finish();
        return true;
    case Stage::waiting:
    case Stage::complete:
        break;
    }
    return false;
}

void Operation::end_summary_exchange() {
    summary_exchange_ = state_.summaries.record;
    bool const writes =
        state_.request.direction == Direction::write || summary_exchange_.status != Status::ok;
    if (call_.ordered &&
        conflicts_.find({number(), summary_exchange_.reach, state_.request, writes}))
        start_overlap();
    else
        start_planned();
}

void Operation::start_overlap() {
    enter(Stage::overlap);
    state_.overlap = std::make_unique<OverlapReduction>();
    state_.overlap->record = conflicts_.marks(state_.request, call_.reads_beyond_end);
    admit_reduction(Channel::overlap);
}

/// Once; the stage may last longer, until earlier operations are complete.
void Operation::end_overlap() {
    if (state_.overlap && !state_.overlap->record.found()) conflicts_.clear();
    state_.overlap.reset();
}

/// All ranks know what all of them want, and nothing of it has to wait for earlier operations.
void Operation::start_planned() {
    if (planning_.decide(summary_exchange_))
        start_decided();
    else
        start_weights();
}

void Operation::start_weights() {
    enter(Stage::weights);
    planning_.begin_weights(summary_exchange_);
    admit_reduction(Channel::weights);
}

void Operation::start_decided() {
    planning_.make(summary_exchange_);
    bool const failed = summary_exchange_.status != Status::ok;
    // A failed message means a lost rank; the remaining ranks must not wait for it.
    bool const owed = failed && call_.ordered && summary_exchange_.status != Status::other;
    if (summary_exchange_.pending == 0 && (summary_exchange_.bytes == 0 || (failed && !owed))) {
        return finish();
    }
    if (failed) {
        state_.plan.strategy = Strategy::independent;
        state_.plan.domains.clear();
        if (owed && independent_.owes_bytes() && !independent_.has_started()) independent_.start();
    } else if (!independent_.has_started() && !independent_.is_done() && state_.request.bytes > 0 &&
               (state_.independent || state_.plan.strategy == Strategy::independent)) {
        independent_.start();
    }
    if (state_.plan.needs_groups()) planning_.divide_by_groups(summary_exchange_);
    start_work();
}

void Operation::start_work() {
    bool const exchanges = state_.plan.strategy == Strategy::two_phase;
    if (exchanges && !claims_.reuse(summary_exchange_.plan_lookup))
        admit_control(claims_.begin(planning_.weights()));
    enter(exchanges ? Stage::claims : Stage::exchange);
}

void Operation::start_agreement() {
    enter(Stage::agreement);
    Summary outcome;
    outcome.operation = summary_exchange_.operation;
    outcome.hints = call_.hints;
    outcome.status = agreed(state_.status, summary_exchange_.status);
    outcome.end_of_file = state_.end_of_file;
    state_.summaries.record = outcome;
    admit_reduction(Channel::agreement);
}

/// A short transfer that ran early is over before the exchange of summaries begins, so its caller
/// waits for no other rank's bytes where the exchange of summaries brings the outcome of all.
bool Operation::may_release_caller() const noexcept {
    bool const moved =
        state_.independent && independent_.is_done() && (planned() || !independent_.ran_early());
    bool const brings_nothing = state_.request.bytes == 0 && planned();
    bool const serves = stage_ != Stage::agreement && rounds_.carries_any();
    // Of a bad call all ranks have the error at once.
    bool const failed = agreed(state_.status, summary_exchange_.status) != Status::ok;
    if (stage_ == Stage::waiting || failed) return false;
    return !state_.request.atomic && !serves && (moved || brings_nothing);
}

bool Operation::run_callers_part() {
    Transfer* const transfer = state_.for_caller.take();
    if (!transfer) return false;
    call_.storage->run(*transfer);
    transfer->done.store(true, std::memory_order_release);
    return true;
}

void Operation::finish() {
    Summary const& outcome = state_.summaries.record;
    if (outcome.status == Status::ok) {
        bool const cut = state_.request.direction == Direction::read && !state_.independent &&
                         outcome.end_of_file < endless;
        bytes_ = state_.independent ? state_.independent_bytes
                 : cut              ? bytes_before(state_.request, outcome.end_of_file)
                                    : state_.request.bytes;
    }
    bool const torn = outcome.status == Status::other || state_.is_torn;
    if (!torn && call_.note_agreed) call_.note_agreed();
    if (torn && independent_.owes_bytes()) return wind_up(outcome.status);
    end(outcome.status);
}

void Operation::end(Status result) {
    result_ = result;
    queue_.order.remove(number());
    enter(Stage::complete);
    ended_ = entered_;
    if (state_.trace.on())
        state_.trace.operation(kind_of(summary_exchange_, state_.request.direction), bytes_,
                               started_, ended_);
    call_.keeps.reset();
    state_.tally.transfers = state_.transfers.seconds();
    state_.tally.messages = state_.messages_under_way.seconds();
    complete_.store(true, std::memory_order_release);
}

void Operation::abandon(Error const& why) {
    if (is_ending_ || complete()) return;
    state_.fail(why);
    executor_.abandon();
    wind_up(state_.status);
}

void Operation::wind_up(Status result) {
    is_ending_ = true;
    result_ = result;
}

/// Of two writes of a byte the later one must win.
bool Operation::progress_to_end(Ahead const& ahead) {
    completed_.clear();
    bool const moved = executor_.progress(completed_);
    if (!executor_.idle()) return moved;
    if (!independent_.owes_bytes()) {
        independent_.end_owed();
        end(result_);
        return true;
    }
    if (ahead.oldest >= 0) return moved;
    independent_.start_owed();
    return true;
}

std::string Operation::title() const { return title_of(number(), state_.request); }

std::string Operation::describe() const {
    Stall const stall =
        stall_of(execution_context_, {call_, number(), stage_, executor_.waiting_op()});
    std::string const text = sluice::describe(stall) + " [" + title() + ", stage " +
                             sluice::describe(stage_) + rounds_.describe();
    std::string const waits = executor_.waits_for();
    return text + (waits.empty() ? "" : ", " + waits) + "]";
}

void Operation::describe(TraceEvent& wait) const {
    if (!state_.trace.on()) return;
    state_.trace.wait(executor_.waiting_op(), wait);
    bool const nothing = wait.detail == static_cast<std::uint8_t>(TraceWait::unknown);
    if (stage_ == Stage::waiting && !may_start())
        wait.detail = static_cast<std::uint8_t>(TraceWait::given_work);
    else if (nothing && (stage_ == Stage::overlap || stage_ == Stage::waiting))
        wait.detail = static_cast<std::uint8_t>(TraceWait::earlier);
}

}  // namespace sluice
