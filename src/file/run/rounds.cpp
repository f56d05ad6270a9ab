// Which rounds an operation has, and when they are admitted. See rounds.hpp.
#include "file/run/rounds.hpp"

#include "file/plan/delivery.hpp"

namespace sluice {

void Rounds::take_numbers() {
    Plan const& plan = state_.plan;
    auto const many = place(plan.aggregator_count());
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
    queue_.order.add(state_.operation, plan, state_.first_round);
}

Rounds::Cursor Rounds::cursor_of(std::int32_t aggregator) const {
    Plan const& plan = state_.plan;
    Topology const& topology = *execution_context_.topology;
    Rank const self = execution_context_.self;
    Node const node = execution_context_.node();
    Rank const serves = sluice::aggregator(topology, plan, aggregator);
    Cursor cursor;
    cursor.owns = serves == self;
    cursor.carries = local_aggregator(topology, plan, node, aggregator) == self;
    bool const away = topology.node_of(serves) != node;
    cursor.in_turn = plan.sends_in_turn() && away && (plan.one_layer() || cursor.carries);
    std::int64_t const rounds = plan.round_count(aggregator);
    Claim const& claim = state_.claims->own[place(aggregator)];
    cursor.next = cursor.carries ? 0 : claim.first();
    cursor.end = cursor.carries ? rounds : std::min(claim.end(), rounds);
    return cursor;
}

void Rounds::start() {
    take_numbers();
    std::int32_t const many = state_.plan.aggregator_count();
    order_ =
        send_order(state_.plan.data, *execution_context_.topology, execution_context_.self, many);
    for (std::int32_t a = 0; a < many; ++a) cursors_.push_back(cursor_of(a));
}

bool Rounds::admit(Ahead const& ahead, bool claims_known) {
    bool moved = false;
    for (std::int32_t const aggregator : order_) {
        auto const a = place(aggregator);
        if ((cursors_[a].carries && !claims_known) || must_stay_behind(a, ahead)) continue;
        while (!cursors_[a].all_admitted() && cursors_[a].active < state_.plan.cb_buffer_count &&
               may_send(aggregator)) {
            admit_next(aggregator);
            moved = true;
        }
    }
    return moved;
}

/// In turn: round by round, and in each round aggregator by aggregator in the order of steps, which
/// is the same number on both sides of a message, so that no circle of ranks waits for each other.
bool Rounds::may_send(std::int32_t aggregator) const {
    Cursor const& mine = cursors_[place(aggregator)];
    if (!mine.in_turn) return true;
    bool before = true;  // Of those with the same round, the ones before it come first.
    for (std::int32_t const other : order_) {
        Cursor const& cursor = cursors_[place(other)];
        if (other == aggregator) before = false;
        if (!cursor.in_turn) continue;
        bool const waits = !cursor.all_admitted() &&
                           (cursor.next < mine.next || (before && cursor.next == mine.next));
        if (cursor.active > 0 || waits) return false;
    }
    return true;
}

RoundInput Rounds::input_of(std::int32_t aggregator, std::int64_t round) const {
    auto const a = place(aggregator);
    auto input = round_input(*execution_context_.topology, execution_context_.self, state_.plan,
                             *state_.claims, aggregator, round);
    input.queue_round = state_.first_round[a] + round;
    input.taken_before = cursors_[a].taken;
    return input;
}

void Rounds::admit_next(std::int32_t aggregator) {
    Cursor& cursor = cursors_[place(aggregator)];
    auto const input = input_of(aggregator, cursor.next++);
    cursor.taken += static_cast<std::int64_t>(input.sources.size());
    Schedule schedule =
        make_round(*execution_context_.topology, execution_context_.self, state_.plan, input);
    if (schedule.ops.empty()) return;
    ++cursor.active;
    executor_.admit(std::move(schedule), aggregator, input.round);
}

bool Rounds::all_admitted() const noexcept {
    return std::ranges::all_of(cursors_, &Cursor::all_admitted);
}

bool Rounds::carries_any() const noexcept {
    return std::ranges::any_of(cursors_, &Cursor::carries);
}

std::int32_t Rounds::own_aggregator() const noexcept {
    auto const own = std::ranges::find_if(cursors_, &Cursor::owns);
    return own == cursors_.end() ? -1 : static_cast<std::int32_t>(own - cursors_.begin());
}

void Rounds::tell_those_behind(Ahead& ahead) const {
    if (ahead.generating.size() < cursors_.size()) {
        ahead.generating.resize(cursors_.size());
        ahead.carrying.resize(cursors_.size());
    }
    for (std::size_t a = 0; a < cursors_.size(); ++a) {
        if (!cursors_[a].all_admitted()) ahead.generating[a] = true;
        bool const carries = cursors_[a].carries && !state_.plan.one_layer();
        if (carries && cursors_[a].active > 0) ahead.carrying[a] = true;
    }
}

/// Rounds are admitted in the operation queue's order. Tags are used again after 16 rounds, so
/// messages must leave in that order, too.
bool Rounds::must_stay_behind(std::size_t a, Ahead const& ahead) const noexcept {
    if (a >= ahead.generating.size()) return false;
    return ahead.generating[a] || (state_.plan.one_layer() && ahead.carrying[a]);
}

std::string Rounds::describe() const {
    std::string text;
    for (std::size_t a = 0; a < cursors_.size(); ++a) {
        text += ", aggregator " + std::to_string(a) + ": round " +
                std::to_string(cursors_[a].next) + " of " + std::to_string(cursors_[a].end);
    }
    return text;
}

}  // namespace sluice
