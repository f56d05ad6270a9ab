// Which rounds an operation has, and when they are admitted. See operation.hpp.
#include "file/run/operation.hpp"

#include "file/plan/delivery.hpp"

namespace sluice {
namespace {

std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

}  // namespace

/// They are taken when the exchange begins, in the operation queue's order, whatever happens later.
void Operation::take_round_numbers() {
    Plan const& plan = state_.plan;
    auto const many = index(plan.aggregator_count());
    if (queue_.next_round.size() < many) {
        queue_.next_round.resize(many);
        queue_.next_shared_round.resize(many);
    }
    for (std::size_t a = 0; a < many; ++a) {
        std::int64_t const rounds = plan.round_count(static_cast<std::int32_t>(a));
        state_.first_round.push_back(queue_.next_round[a]);
        state_.first_shared_round.push_back(queue_.next_shared_round[a]);
        queue_.next_round[a] += rounds;
        if (!plan.is_grouped()) queue_.next_shared_round[a] += rounds;
    }
    queue_.order.add(number(), plan, state_.first_round);
}

void Operation::start_exchange() {
    Plan const& plan = state_.plan;
    take_round_numbers();
    cursors_.resize(plan.domains.size());
    cursor_order_ = send_order(plan.data, *execution_context_.topology, execution_context_.self,
                               plan.aggregator_count());
    for (std::size_t a = 0; a < cursors_.size(); ++a) {
        auto const aggregator = static_cast<std::int32_t>(a);
        Cursor& cursor = cursors_[a];
        std::int64_t const rounds = plan.round_count(aggregator);
        cursor.owns = sluice::aggregator(*execution_context_.topology, plan, aggregator) ==
                      execution_context_.self;
        cursor.carries =
            local_aggregator(*execution_context_.topology, plan, execution_context_.node(),
                             aggregator) == execution_context_.self;
        bool const away = execution_context_.topology->node_of(
                              sluice::aggregator(*execution_context_.topology, plan, aggregator)) !=
                          execution_context_.node();
        cursor.in_turn = plan.sends_in_turn() && away && (plan.one_layer() || cursor.carries);
        Claim const& claim = state_.claims->own[a];
        cursor.next = cursor.carries ? 0 : claim.first();
        cursor.end = cursor.carries ? rounds : std::min(claim.end(), rounds);
    }
}

bool Operation::generated(std::size_t a) const noexcept {
    return a >= cursors_.size() || cursors_[a].next >= cursors_[a].end;
}

bool Operation::admit_rounds(Ahead const& ahead) {
    bool moved = false;
    for (std::int32_t const aggregator : cursor_order_) {
        auto const a = index(aggregator);
        if (cursors_[a].carries && stage_ == Stage::claims) continue;  // Others' are not known yet.
        if (must_stay_behind(a, ahead)) continue;
        while (!generated(a) && cursors_[a].active < state_.plan.cb_buffer_count &&
               may_send(aggregator)) {
            moved |= admit_next(aggregator);
        }
    }
    return moved;
}

/// In turn: round by round, and in each round aggregator by aggregator in the order of steps, which
/// is the same number on both sides of a message, so that no circle of ranks waits for each other.
bool Operation::may_send(std::int32_t aggregator) const {
    Cursor const& mine = cursors_[index(aggregator)];
    if (!mine.in_turn) return true;
    bool before = true;  // Of those with the same round, the ones before it come first.
    for (std::int32_t const other : cursor_order_) {
        Cursor const& cursor = cursors_[index(other)];
        if (other == aggregator) before = false;
        if (!cursor.in_turn) continue;
        bool const waits = !generated(index(other)) &&
                           (cursor.next < mine.next || (before && cursor.next == mine.next));
        if (cursor.active > 0 || waits) return false;
    }
    return true;
}

RoundInput Operation::round_input(std::int32_t aggregator, std::int64_t round) const {
    auto const a = index(aggregator);
    auto input = sluice::round_input(*execution_context_.topology, execution_context_.self,
                                     state_.plan, *state_.claims, aggregator, round);
    input.queue_round = state_.first_round[a] + round;
    input.taken_before = cursors_[a].taken;
    return input;
}

bool Operation::admit_next(std::int32_t aggregator) {
    Cursor& cursor = cursors_[index(aggregator)];
    auto const input = round_input(aggregator, cursor.next++);
    cursor.taken += static_cast<std::int64_t>(input.sources.size());
    Schedule schedule =
        make_round(*execution_context_.topology, execution_context_.self, state_.plan, input);
    if (schedule.ops.empty()) return true;
    ++cursor.active;
    executor_.admit(std::move(schedule), aggregator, input.round);
    return true;
}

void Operation::tell_those_behind(Ahead& ahead) const {
    if (ahead.generating.size() < cursors_.size()) {
        ahead.generating.resize(cursors_.size());
        ahead.carrying.resize(cursors_.size());
    }
    for (std::size_t a = 0; a < cursors_.size(); ++a) {
        if (!generated(a)) ahead.generating[a] = true;
        bool const carries = cursors_[a].carries && !state_.plan.one_layer();
        if (carries && cursors_[a].active > 0) ahead.carrying[a] = true;
    }
}

/// Rounds are admitted in the operation queue's order. Tags are used again after 16 rounds, so
/// messages must leave in that order, too.
bool Operation::must_stay_behind(std::size_t a, Ahead const& ahead) const noexcept {
    if (a >= ahead.generating.size()) return false;
    return ahead.generating[a] || (state_.plan.one_layer() && ahead.carrying[a]);
}

}  // namespace sluice
