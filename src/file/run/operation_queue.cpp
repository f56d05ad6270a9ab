// The body of OperationQueue: operations begin in order, and a few are under way at once. See
// operation_queue.hpp.
#include "file/run/operation_queue.hpp"

namespace sluice {

OperationQueue::OperationQueue(ExecutionContext& execution_context)
    : execution_context_(execution_context) {
    caller().rank_in_job.store(execution_context.rank_in_job + 1, std::memory_order_relaxed);
}

std::shared_ptr<Operation> OperationQueue::make(Call call) {
    auto made =
        std::make_shared<Operation>(execution_context_, state_, std::move(call), next_number_);
    ++next_number_;  // Where there was no memory for it, the next one has the number.
    tell_calls();
    return made;
}

void OperationQueue::unmake() noexcept {
    --next_number_;
    tell_calls();
}

Caller& OperationQueue::caller() const noexcept {
    return execution_context_.region.caller(execution_context_.local());
}

void OperationQueue::tell_calls() const noexcept {
    caller().calls.store(next_number_, std::memory_order_relaxed);
}

void OperationQueue::append(std::shared_ptr<Operation> operation) {
    queue_.push_back(std::move(operation));
}

void OperationQueue::begin_at_front() {
    ahead_.planned = true;
    ahead_.oldest = -1;
    ahead_.generating.assign(state_.next_round.size(), false);
    ahead_.carrying.assign(state_.next_round.size(), false);
}

bool OperationQueue::progress() {
    bool moved = false;
    begin_at_front();
    for (auto& operation : queue_) {
        if (operation->number() >= queue_.front()->number() + operations_under_way) break;
        if (operation->stage() == Stage::waiting && !operation->is_ending()) {
            if (!operation->may_start()) break;  // All ranks begin them in the order of the calls.
            operation->start(ahead_);
            moved = true;
        }
        moved |= operation->progress(ahead_);
    }
    if (!moved && !queue_.empty() && execution_context_.lost_rank) moved = abandon_if_lost();
    while (!queue_.empty() && queue_.front()->complete()) queue_.pop_front();
    return moved;
}

/// Asked only while nothing moves.
bool OperationQueue::abandon_if_lost() {
    Error const lost = execution_context_.lost_rank(execution_context_.clock->now());
    if (!lost) return false;
    for (auto& operation : queue_) operation->abandon(lost);
    bool moved = false;
    begin_at_front();
    for (auto& operation : queue_) moved |= operation->progress(ahead_);
    return moved;
}

std::string OperationQueue::describe() const {
    return queue_.empty() ? "" : queue_.front()->describe();
}

void OperationQueue::describe(TraceEvent& wait) const {
    if (!queue_.empty()) queue_.front()->describe(wait);
}

}  // namespace sluice
