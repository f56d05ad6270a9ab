// The body of Operation: what begins and ends each stage. See operation.hpp.
#include "file/run/operation.hpp"

#include "file/plan/independent.hpp"
#include "file/plan/schedule_claims.hpp"
#include "file/plan/schedule_reduction.hpp"

#include <utility>

namespace sluice {
namespace {

std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

}  // namespace

Operation::Operation(ExecutionContext& execution_context, QueueState& queue, Call call,
                     std::int64_t number)
    : execution_context_(execution_context),
      queue_(queue),
      call_(std::move(call)),
      executor_(execution_context, *call_.storage, state_),
      rounds_(execution_context, queue, state_, executor_),
      conflicts_(queue) {
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
    if (!call_.find_memory) state_.independent = wants_independent();
    started_ = execution_context_.clock->now();
}

bool Operation::wants_independent() const {
    Request const& r = state_.request;
    auto const rule = independent_rule(execution_context_.limits, r.direction,
                                       execution_context_.topology->rank_count(),
                                       call_.storage->independent_piece_bytes(r.direction));
    if (sluice::wants_independent(r, call_.hints, rule)) return true;
    bool const write = r.direction == Direction::write;
    bool const free = (write ? call_.hints.write : call_.hints.read) == Strategy::automatic;
    return execution_context_.limits.machine && free &&
           queue_.answers.known_to_be_independent(r, number());
}

Summary Operation::own_summary() const {
    Summary s = summarise(state_.exchanged(), scope_of(call_.hints, *execution_context_.topology,
                                                       execution_context_.limits));
    if (state_.independent) s.independent = load_of(state_.request);
    if (call_.ordered) s.reach = reach_of(state_.request, call_.reads_beyond_end);
    s.plan_lookup = queue_.plans.plan_lookup(state_.exchanged());
    s.hints = call_.hints;
    s.status = state_.status;
    s.end_of_file = state_.end_of_file;
    if (state_.independent) s.pending = !independent_done_;
    s.waiting = call_.may_block;
    s.foretold = call_.foretold;
    if (execution_context_.leads()) {
        Hints const& h = call_.hints;
        auto const wish = wished_window_bytes(h, execution_context_.limits);
        auto const many = h.aggregator_count > 0 ? h.aggregator_count
                                                 : execution_context_.limits.aggregator_count;
        auto const most = std::min(std::max<std::int32_t>(many, h.group_count),
                                   execution_context_.region.shape().aggregator_count);
        bool const in_turn = h.data.kernel == Kernel::pairwise;
        auto const staging = execution_context_.reserve({number(), most, wish, in_turn});
        s.cb_buffer_bytes = staging.cb_buffer_bytes;
        s.cb_buffer_count = cb_buffers_per_aggregator;
        s.staged_whole = staging.whole ? 1 : 0;
    }
    return s;
}

void Operation::take_memory(std::shared_ptr<Layout const> memory) {
    Request& r = state_.request;
    if (is_in_range(*memory, 0, 0, r.bytes, -offset_limit)) {
        r.memory = std::move(memory);
    } else {
        state_.note({.status = Status::count,
                     .what = "the datatype reaches farther in memory than offsets can say"});
        r.bytes = 0;
    }
}

void Operation::start(Ahead const& ahead) {
    if (call_.find_memory) {
        take_memory(std::exchange(call_.find_memory, nullptr)());
        state_.independent = wants_independent();
    }
    enter(Stage::summary_exchange);
    start_summary_exchange();
    if (may_start_independent(ahead)) start_independent();
}

void Operation::start_independent() {
    state_.independent = independent_started_ = true;
    executor_.admit(make_independent(state_.request.direction), id_independent);
}

void Operation::start_summary_exchange() {
    state_.summaries.record = own_summary();
    admit_reduction(Channel::summary_exchange);
}

/// Boards are used in turn; counters of a board go on from its earlier uses, which are counted.
void Operation::use_board(BoardUse use) {
    auto& uses = queue_.board_uses[use][index(state_.operation % board_count)];
    state_.board_uses_before[use] = uses++;
}

void Operation::admit_reduction(Channel channel) {
    use_board(boards_of(channel));
    control_left_ = 1;
    executor_.admit(make_reduction(*execution_context_.topology, execution_context_.self, channel,
                                   state_.operation),
                    id_control);
}

/// A part that goes straight to the file may start before the other ranks are heard of, unless one
/// of them may have touched its bytes in an operation that is not complete.
bool Operation::may_start_independent(Ahead const& ahead) const noexcept {
    return state_.independent && !independent_done_ && (!call_.ordered || ahead.oldest < 0);
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
        else if (id == id_independent)
            independent_done_ = true;
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
        end_weights();
        return true;
    case Stage::claims:
        if (control_left_ > 0 || (reused_plan_ && !state_.claims->complete))
            return rounds_.admit(ahead, false);
        end_claims();
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
    if (call_.ordered && conflicts_.find(number(), summary_exchange_.reach, state_.request))
        start_overlap();
    else
        start_planned();
}

/// All ranks know what all of them want, and nothing of it has to wait for earlier operations.
/// Where the bytes lie is asked for once: with a plan that is remembered its weights are.
void Operation::start_planned() {
    weights_ = queue_.plans.weights(summary_exchange_.plan_lookup);
    decision_ = decide(summary_exchange_, *execution_context_.topology, execution_context_.limits,
                       weights_.get());
    bool const moves = summary_exchange_.bytes > 0 && summary_exchange_.status == Status::ok;
    if (moves && decision_.needs_weights) return start_weights();
    static auto const even = std::make_shared<Weights const>(Weights::even());
    if (!weights_) weights_ = even;  // The decision is the same with any others.
    start_decided();
}

void Operation::start_decided() {
    if (decision_.free && !state_.independent) {
        queue_.answers.note(state_.request, decision_.way.strategy);
    }
    state_.plan = make_plan(decision_, summary_exchange_, *execution_context_.topology,
                            execution_context_.limits, weights_.get());
    bool const failed = summary_exchange_.status != Status::ok;
    // A failed message means a lost rank; the remaining ranks must not wait for it.
    bool const owed = failed && call_.ordered && summary_exchange_.status != Status::other;
    if (summary_exchange_.pending == 0 && (summary_exchange_.bytes == 0 || (failed && !owed))) {
        return finish();
    }
    if (failed) {
        state_.plan.strategy = Strategy::independent;
        state_.plan.domains.clear();
        if (owed && owes_bytes() && !independent_started_) start_independent();
    } else if (!independent_started_ && !independent_done_ && state_.request.bytes > 0 &&
               (state_.independent || state_.plan.strategy == Strategy::independent)) {
        start_independent();
    }
    if (state_.plan.needs_groups()) divide_by_groups();
    start_work();
}

/// From the records of the node's ranks, which are still on the board.
void Operation::divide_by_groups() {
    std::vector<Summary> records;
    for (Rank local = 0; local < execution_context_.local_count(); ++local) {
        records.push_back(
            execution_context_.region.record(Channel::summary_exchange, state_.operation, local));
    }
    sluice::divide_by_groups(state_.plan, summary_exchange_, *execution_context_.topology,
                             execution_context_.node(), records, decision_.way.aggregators,
                             execution_context_.limits.key.get());
}

/// Where in the span the bytes are, which the exchange of summaries does not tell.
void Operation::start_weights() {
    enter(Stage::weights);
    auto const board = index(state_.operation % board_count);
    state_.weights = std::make_unique<WeightsReduction>();
    state_.weights->record = weigh(state_.exchanged(), summary_exchange_.span);
    if (!queue_.weighed.empty()) state_.weights->sums_before = queue_.weighed[board];
    admit_reduction(Channel::weights);
}

void Operation::end_weights() {
    queue_.weighed.resize(index(board_count));
    queue_.weighed[index(state_.operation % board_count)] = state_.weights->sums;
    weights_ = std::make_shared<Weights const>(state_.weights->result());
    decision_ = decide(summary_exchange_, *execution_context_.topology, execution_context_.limits,
                       weights_.get());
    state_.weights.reset();
    start_decided();
}

void Operation::start_work() {
    if (state_.plan.strategy == Strategy::two_phase && !reuse_claims()) start_claims();
    enter(state_.plan.strategy == Strategy::two_phase ? Stage::claims : Stage::exchange);
}

/// All ranks decide alike: from the exchange of summaries, and from plans that they stored
/// together.
bool Operation::reuse_claims() {
    state_.claims = queue_.plans.find(summary_exchange_.plan_lookup, state_.plan);
    reused_plan_ = state_.claims != nullptr;
    if (reused_plan_) rounds_.start();
    return reused_plan_;
}

void Operation::start_claims() {
    use_board(boards_of_claims);
    state_.claims = std::make_shared<Claims>();
    queue_.plans.store(state_.operation, state_.exchanged(), state_.plan, state_.claims, weights_);
    state_.claims->own = make_claims(state_.exchanged(), state_.plan, execution_context_.local());
    state_.claims->local.resize(index(state_.plan.aggregator_count()));
    rounds_.start();
    control_left_ = 1;
    executor_.admit(make_claims_exchange(*execution_context_.topology, execution_context_.self,
                                         state_.plan, state_.operation),
                    id_control);
}

/// Claims are kept off the board, which others will use again.
void Operation::end_claims() {
    enter(Stage::exchange);
    if (reused_plan_) return;
    Claims& claims = *state_.claims;
    for (std::int32_t a = 0; a < rounds_.aggregator_count(); ++a) {
        if (!rounds_.carries(a)) continue;
        for (Rank local = 0; local < execution_context_.local_count(); ++local)
            claims.local[index(a)].push_back(
                execution_context_.region.claim(state_.operation, local, a));
    }
    claims.complete = true;
    std::int32_t const own = rounds_.own_aggregator();
    if (own < 0) return;
    auto sources = sources_of(std::exchange(state_.claims_received, {}),
                              *execution_context_.topology, state_.plan, own);
    if (sources) claims.sources = std::move(*sources);
    if (!sources) state_.fail({.status = Status::other, .what = "claims cannot be unpacked"});
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

}  // namespace sluice
