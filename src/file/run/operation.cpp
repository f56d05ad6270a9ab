// The four stages. See operation.hpp.
#include "file/run/operation.hpp"

#include "file/plan/cycle_input.hpp"
#include "file/plan/direct.hpp"
#include "file/plan/schedule_claims.hpp"
#include "file/plan/schedule_reduction.hpp"
#include "file/run/transfers.hpp"

#include <utility>

namespace sluice {
namespace {

// Ids of admitted schedules: lanes are numbered from 0.
constexpr std::int32_t id_control = -1, id_direct = -2;

constexpr std::size_t boards_survey = 0, boards_agreement = 1, boards_claims = 2,
                      boards_weights = 3;

std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

}  // namespace

Operation::Operation(Site& site, StreamState& stream, Call call, std::int64_t number)
    : site_(site),
      stream_(stream),
      call_(std::move(call)),
      executor_(site, *call_.storage, state_) {
    state_.operation = number;
    state_.request = std::move(call_.request);
    state_.user = call_.user;
    state_.status = call_.status;
    state_.caller_transfers = call_.may_block;
    if (call_.status != Status::ok) state_.request.bytes = 0;
    if (!call_.find_memory) state_.direct = wants_direct();
    started_ = site_.clock->now();
}

bool Operation::wants_direct() const {
    Request const& r = state_.request;
    auto const rule = direct_rule(site_.limits, r.direction, site_.topology->rank_count(),
                                  call_.storage->direct_piece_bytes(r.direction));
    if (sluice::wants_direct(r, call_.hints, rule)) return true;
    bool const write = r.direction == Direction::write;
    bool const free = (write ? call_.hints.write : call_.hints.read) == Strategy::automatic;
    return site_.limits.machine && free && stream_.answers.known_to_go_straight(r, number());
}

Summary Operation::own_summary() const {
    Summary s = summarise(state_.exchanged(), scope_of(call_.hints, *site_.topology, site_.limits));
    if (state_.direct) s.direct = load_of(state_.request);
    s.recall = stream_.plans.recall(state_.exchanged());
    s.hints = call_.hints;
    s.status = state_.status;
    s.end_of_file = state_.end_of_file;
    if (state_.direct) s.pending = !direct_done_;
    s.waiting = call_.may_block;
    if (site_.leads()) {
        Hints const& h = call_.hints;
        auto const wish = wished_window_bytes(h, site_.limits);
        auto const many =
            h.aggregator_count > 0 ? h.aggregator_count : site_.limits.aggregator_count;
        auto const slots = std::min(std::max<std::int32_t>(many, h.group_count),
                                    site_.window.shape().aggregator_count);
        s.slot_bytes = site_.reserve(slots, wish);
        s.slot_count = slots_per_aggregator;
    }
    return s;
}

void Operation::take_memory(std::shared_ptr<Layout const> memory) {
    Request& r = state_.request;
    if (is_in_range(*memory, 0, 0, r.bytes, -offset_limit)) {
        r.memory = std::move(memory);
    } else {
        state_.fail(Status::count);
        r.bytes = 0;
    }
}

void Operation::start() {
    if (call_.find_memory) {
        take_memory(std::exchange(call_.find_memory, nullptr)());
        state_.direct = wants_direct();
    }
    enter(Stage::survey);
    start_survey();
    if (state_.direct && !direct_done_) start_direct();
}

void Operation::start_direct() {
    state_.direct = true;
    executor_.admit(make_direct(state_.request.direction), id_direct);
}

void Operation::start_survey() {
    auto const board = index(state_.operation % board_count);
    state_.arrivals_before[0] = stream_.board_uses[boards_survey][board]++;
    state_.records[0] = own_summary();
    control_left_ = 1;
    executor_.admit(make_reduction(*site_.topology, site_.self, Channel::survey, state_.operation),
                    id_control);
}

bool Operation::progress(Ahead& ahead) {
    bool moved = false;
    for (bool again = true; again && !complete();) {
        completed_.clear();
        again = executor_.progress(completed_);
        for (std::int32_t const id : completed_) {
            if (id == id_control)
                --control_left_;
            else if (id == id_direct)
                direct_done_ = true;
            else
                --lanes_[index(id)].active;
        }
        again |= step(ahead);
        moved |= again;
    }
    ahead.planned = planned();
    for (std::size_t a = 0; a < lanes_.size(); ++a) {
        if (!generated(a)) ahead.generating[a] = true;
    }
    return moved;
}

/// The time since the last stage began is that stage's.
void Operation::enter(Stage next) {
    double const now = site_.clock->now();
    Tally& tally = state_.tally;
    if (stage_ == Stage::survey) tally.survey += now - started_;
    if (stage_ == Stage::weights) tally.survey += now - entered_;
    if (stage_ == Stage::claims) tally.claims += now - entered_;
    if (stage_ == Stage::exchange) tally.exchange += now - entered_;
    if (stage_ == Stage::agreement) tally.agreement += now - entered_;
    entered_ = now;
    stage_ = next;
}

/// Enters the next stage when the current one is done; true when anything happened.
bool Operation::step(Ahead const& ahead) {
    switch (stage_) {
    case Stage::survey:
        return control_left_ == 0 && end_survey(ahead);
    case Stage::weights:
        if (control_left_ > 0) return false;
        end_weighing();
        return true;
    case Stage::claims:
        if (control_left_ > 0 || (reused_plan_ && !state_.claims->complete))
            return admit_cycles(ahead);
        end_claims();
        return true;
    case Stage::exchange: {
        bool const moved = admit_cycles(ahead);
        if (moved || !executor_.idle()) return moved;
        for (std::size_t a = 0; a < lanes_.size(); ++a) {
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

bool Operation::end_survey(Ahead const& ahead) {
    if (!ahead.planned) return false;  // Cycle numbers go on in the stream's order.
    survey_ = state_.records[0];
    decision_ = decide(survey_, *site_.topology, site_.limits);
    if (decision_.free && !state_.direct) {
        stream_.answers.note(state_.request, decision_.way.strategy);
    }
    state_.plan = make_plan(decision_, survey_, *site_.topology, site_.limits);
    bool const failed = survey_.status != Status::ok;
    if (survey_.pending == 0 && (survey_.bytes == 0 || failed)) {
        finish();
        return true;
    }
    if (failed) {
        state_.plan.strategy = Strategy::independent;
        state_.plan.domains.clear();
    } else if (state_.plan.strategy == Strategy::independent && !state_.direct &&
               state_.request.bytes > 0) {
        start_direct();
    }
    if (state_.plan.needs_groups()) divide_by_groups();
    if (state_.plan.needs_weights()) {
        if (auto known = stream_.plans.domains(survey_.recall, state_.plan)) {
            state_.plan.domains = std::move(*known);
        } else {
            start_weighing();
            return true;
        }
    }
    start_work();
    return true;
}

/// From the records of the node's ranks, which are still on the board.
void Operation::divide_by_groups() {
    std::vector<Summary> records;
    for (Rank local = 0; local < site_.local_count(); ++local) {
        records.push_back(site_.window.record(Channel::survey, state_.operation, local));
    }
    sluice::divide_by_groups(state_.plan, survey_, *site_.topology, site_.node(), records,
                             decision_.way.aggregators, site_.limits.key.get());
}

/// Where in the span the bytes are, which the survey does not tell.
void Operation::start_weighing() {
    enter(Stage::weights);
    auto const board = index(state_.operation % board_count);
    state_.arrivals_before[2] = stream_.board_uses[boards_weights][board]++;
    state_.weighing = std::make_unique<Weighing>();
    state_.weighing->all = weigh(state_.exchanged(), survey_.span);
    if (!stream_.weighed.empty()) state_.weighing->sums_before = stream_.weighed[board];
    control_left_ = 1;
    executor_.admit(make_reduction(*site_.topology, site_.self, Channel::weights, state_.operation),
                    id_control);
}

void Operation::end_weighing() {
    stream_.weighed.resize(index(board_count));
    stream_.weighed[index(state_.operation % board_count)] = state_.weighing->sums;
    state_.plan =
        make_plan(decision_, survey_, *site_.topology, site_.limits, &state_.weighing->all);
    state_.weighing.reset();
    start_work();
}

void Operation::start_work() {
    if (state_.plan.strategy == Strategy::two_phase && !reuse_claims()) start_claims();
    enter(state_.plan.strategy == Strategy::two_phase ? Stage::claims : Stage::exchange);
}

/// All ranks decide alike: from the survey, and from plans that they stored together.
bool Operation::reuse_claims() {
    state_.claims = stream_.plans.find(survey_.recall, state_.plan);
    reused_plan_ = state_.claims != nullptr;
    if (reused_plan_) start_exchange();
    return reused_plan_;
}

void Operation::start_claims() {
    auto const board = index(state_.operation % board_count);
    state_.claims_before = stream_.board_uses[boards_claims][board]++;
    state_.claims = std::make_shared<Claims>();
    stream_.plans.store(state_.operation, state_.exchanged(), state_.plan, state_.claims);
    state_.claims->own = make_claims(state_.exchanged(), state_.plan, site_.local());
    state_.claims->local.resize(index(state_.plan.aggregator_count()));
    start_exchange();
    control_left_ = 1;
    executor_.admit(
        make_claims_exchange(*site_.topology, site_.self, state_.plan, state_.operation),
        id_control);
}

/// Claims are kept off the board, which others will use again.
void Operation::end_claims() {
    enter(Stage::exchange);
    if (reused_plan_) return;
    Claims& claims = *state_.claims;
    for (std::size_t a = 0; a < lanes_.size(); ++a) {
        if (!lanes_[a].carries) continue;
        for (Rank local = 0; local < site_.local_count(); ++local) {
            claims.local[a].push_back(
                site_.window.claim(state_.operation, local, static_cast<std::int32_t>(a)));
        }
    }
    claims.complete = true;
    auto const own =
        std::find_if(lanes_.begin(), lanes_.end(), [](auto& lane) { return lane.owns; });
    if (own == lanes_.end()) return;
    auto sources = sources_of(std::exchange(state_.claims_received, {}), *site_.topology,
                              state_.plan, static_cast<std::int32_t>(own - lanes_.begin()));
    if (sources) claims.sources = std::move(*sources);
    if (!sources) state_.fail(Status::other);
}

/// Cycle numbers are taken now, in the stream's order, whatever happens later.
void Operation::start_exchange() {
    Plan const& plan = state_.plan;
    site_.open_slots(plan.aggregator_count(), plan.window_bytes);
    lanes_.resize(plan.domains.size());
    lane_order_ = send_order(plan.data, *site_.topology, site_.self, plan.aggregator_count());
    for (std::size_t a = 0; a < lanes_.size(); ++a) {
        auto const aggregator = static_cast<std::int32_t>(a);
        Lane& lane = lanes_[a];
        std::int64_t const cycles = plan.cycle_count(aggregator);
        state_.first_cycle.push_back(stream_.next_cycle[a]);
        state_.first_shared_cycle.push_back(stream_.next_shared_cycle[a]);
        stream_.next_cycle[a] += cycles;
        if (!plan.is_grouped()) stream_.next_shared_cycle[a] += cycles;
        lane.owns = sluice::aggregator(*site_.topology, plan, aggregator) == site_.self;
        lane.carries = carrier(*site_.topology, plan, site_.node(), aggregator) == site_.self;
        Claim const& claim = state_.claims->own[a];
        lane.next = lane.carries ? 0 : claim.first();
        lane.end = lane.carries ? cycles : std::min(claim.end(), cycles);
    }
}

bool Operation::generated(std::size_t a) const noexcept {
    return a >= lanes_.size() || lanes_[a].next >= lanes_[a].end;
}

bool Operation::admit_cycles(Ahead const& ahead) {
    bool moved = false;
    for (std::int32_t const aggregator : lane_order_) {
        auto const a = index(aggregator);
        if (lanes_[a].carries && stage_ == Stage::claims) continue;  // Others' are not known yet.
        if (ahead.generating[a]) continue;
        while (!generated(a) && lanes_[a].active < state_.plan.slot_count) {
            moved |= admit_next(aggregator);
        }
    }
    return moved;
}

CycleInput Operation::cycle_input(std::int32_t aggregator, std::int64_t cycle) const {
    auto const a = index(aggregator);
    auto input = sluice::cycle_input(*site_.topology, site_.self, state_.plan, *state_.claims,
                                     aggregator, cycle);
    input.stream_cycle = state_.first_cycle[a] + cycle;
    input.taken_before = lanes_[a].taken;
    return input;
}

bool Operation::admit_next(std::int32_t aggregator) {
    Lane& lane = lanes_[index(aggregator)];
    auto const input = cycle_input(aggregator, lane.next++);
    lane.taken += static_cast<std::int64_t>(input.sources.size());
    Schedule schedule = make_cycle(*site_.topology, site_.self, state_.plan, input);
    if (schedule.ops.empty()) return true;
    ++lane.active;
    executor_.admit(std::move(schedule), aggregator);
    return true;
}

void Operation::start_agreement() {
    enter(Stage::agreement);
    auto const board = index(state_.operation % board_count);
    state_.arrivals_before[1] = stream_.board_uses[boards_agreement][board]++;
    Summary outcome;
    outcome.operation = survey_.operation;
    outcome.hints = call_.hints;
    outcome.status = agreed(state_.status, survey_.status);
    outcome.end_of_file = state_.end_of_file;
    state_.records[0] = outcome;
    control_left_ = 1;
    executor_.admit(
        make_reduction(*site_.topology, site_.self, Channel::agreement, state_.operation),
        id_control);
}

void Operation::finish() {
    Summary const& outcome = state_.records[0];
    result_ = outcome.status;
    if (result_ == Status::ok) {
        bool const cut = state_.request.direction == Direction::read && !state_.direct &&
                         outcome.end_of_file < endless;
        bytes_ = state_.direct ? state_.direct_bytes
                 : cut         ? bytes_before(state_.request, outcome.end_of_file)
                               : state_.request.bytes;
    }
    enter(Stage::complete);
    ended_ = entered_;
    state_.tally.transfers = state_.transfers.seconds();
    state_.tally.messages = state_.messages_under_way.seconds();
    complete_.store(true, std::memory_order_release);
}

}  // namespace sluice
