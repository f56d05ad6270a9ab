// What the thread of a blocking call does for its own operation and when that call may return, and
// how an operation ends: with what all ranks agreed on, or given up. See operation.hpp.
#include "file/run/operation.hpp"
#include "file/run/transfers.hpp"

#include <utility>

namespace sluice {

/// A transfer this short costs less than telling another thread about it.
constexpr Bytes inline_bytes = 256 * 1024;

void Operation::run_early() {
    if (!state_.independent || !call_.may_block || state_.request.bytes > inline_bytes) return;
    UserTransfer transfer(state_.request, state_.user);
    call_.storage->run(transfer);
    state_.note(transfer.error);
    state_.independent_bytes = transfer.bytes;
    independent_done_ = ran_early_ = true;
}

/// A short transfer that ran early is over before the exchange of summaries begins, so its caller
/// waits for no other rank's bytes where the exchange of summaries brings the outcome of all.
bool Operation::may_release_caller() const noexcept {
    bool const moved = state_.independent && independent_done_ && (planned() || !ran_early_);
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
    if (torn && owes_bytes()) return wind_up(outcome.status);
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
    if (!owes_bytes()) {
        state_.error = first_of(state_.error, error_before_);
        end(result_);
        return true;
    }
    if (ahead.oldest >= 0) return moved;
    write_owed();
    return true;
}

bool Operation::owes_bytes() const noexcept {
    bool const moved = state_.independent && state_.independent_bytes == state_.request.bytes;
    return call_.keeps && state_.writes_on && state_.request.bytes > 0 && !moved && !wrote_owed_;
}

/// What storage refuses is reported, whatever was before.
void Operation::write_owed() {
    wrote_owed_ = true;
    error_before_ = std::exchange(state_.error, {});
    start_independent();
}

}  // namespace sluice
