// How an operation ends: with what all ranks agreed on, or given up. See operation.hpp.
#include "file/run/operation.hpp"
#include "file/run/transfers.hpp"

namespace sluice {

void Operation::finish() {
    Summary const& outcome = state_.summaries.record;
    if (outcome.status == Status::ok) {
        bool const cut = state_.request.direction == Direction::read && !state_.independent &&
                         outcome.end_of_file < endless;
        bytes_ = state_.independent ? state_.independent_bytes
                 : cut              ? bytes_before(state_.request, outcome.end_of_file)
                                    : state_.request.bytes;
    }
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
    if (is_abandoned_ || complete()) return;
    is_abandoned_ = true;
    state_.fail(why);
    executor_.abandon();
}

bool Operation::progress_abandoned() {
    if (complete()) return false;
    completed_.clear();
    bool const moved = executor_.progress(completed_);
    if (!executor_.idle()) return moved;
    end(state_.status);
    return true;
}

}  // namespace sluice
