// The body of Operation: what begins and ends each stage. See operation.hpp.
#include "file/run/operation.hpp"

#include "file/plan/independent.hpp"
#include "file/plan/round_input.hpp"
#include "file/plan/schedule_claims.hpp"

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
      executor_(execution_context, *call_.storage, state_) {
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
                                   execution_context_.window.shape().aggregator_count);
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

bool Operation::progress(Ahead& ahead) {
    bool moved = false;
    for (bool again = true; again && !complete();) {
        again = is_ending_ ? progress_to_end(ahead) : progress_stages(ahead);
        moved |= again;
    }
    ahead.planned = planned();
    tell_those_behind(ahead);
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
            --cursors_[index(id)].active;
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
        if (control_left_ > 0 || must_wait_for_earlier(ahead)) return false;
        start_planned();
        return true;
    case Stage::weights:
        if (control_left_ > 0) return false;
        end_weights();
        return true;
    case Stage::claims:
        if (control_left_ > 0 || (reused_plan_ && !state_.claims->complete))
            return admit_rounds(ahead);
        end_claims();
        return true;
    case Stage::exchange: {
        bool const moved = admit_rounds(ahead);
        if (moved || !executor_.idle()) return moved;
        for (std::size_t a = 0; a < cursors_.size(); ++a) {
            if (!generated(a)) return false;
        }
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
    if (call_.ordered && meets_earlier())
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
    // Where a message failed a rank is lost, and nobody may wait for all of them.
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

void Operation::start_work() {
    if (state_.plan.strategy == Strategy::two_phase && !reuse_claims()) start_claims();
    enter(state_.plan.strategy == Strategy::two_phase ? Stage::claims : Stage::exchange);
}

/// All ranks decide alike: from the exchange of summaries, and from plans that they stored
/// together.
bool Operation::reuse_claims() {
    state_.claims = queue_.plans.find(summary_exchange_.plan_lookup, state_.plan);
    reused_plan_ = state_.claims != nullptr;
    if (reused_plan_) start_exchange();
    return reused_plan_;
}

void Operation::start_claims() {
    use_board(boards_of_claims);
    state_.claims = std::make_shared<Claims>();
    queue_.plans.store(state_.operation, state_.exchanged(), state_.plan, state_.claims, weights_);
    state_.claims->own = make_claims(state_.exchanged(), state_.plan, execution_context_.local());
    state_.claims->local.resize(index(state_.plan.aggregator_count()));
    start_exchange();
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
    for (std::size_t a = 0; a < cursors_.size(); ++a) {
        if (!cursors_[a].carries) continue;
        for (Rank local = 0; local < execution_context_.local_count(); ++local) {
            claims.local[a].push_back(execution_context_.window.claim(
                state_.operation, local, static_cast<std::int32_t>(a)));
        }
    }
    claims.complete = true;
    auto const own =
        std::find_if(cursors_.begin(), cursors_.end(), [](auto& cursor) { return cursor.owns; });
    if (own == cursors_.end()) return;
    auto sources =
        sources_of(std::exchange(state_.claims_received, {}), *execution_context_.topology,
                   state_.plan, static_cast<std::int32_t>(own - cursors_.begin()));
    if (sources) claims.sources = std::move(*sources);
    if (!sources) state_.fail({.status = Status::other, .what = "claims cannot be unpacked"});
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
