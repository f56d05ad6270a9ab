// What the thread of a blocking call does for its own operation, and when that call may return. See
// operation.hpp.
#include "file/run/operation.hpp"
#include "file/run/transfers.hpp"

#include <algorithm>

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
    bool const serves =
        stage_ != Stage::agreement &&
        std::ranges::any_of(cursors_, [](Cursor const& cursor) { return cursor.carries; });
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

}  // namespace sluice
