// When bytes go straight to the file, and who moves them. See independent_part.hpp.
#include "file/run/independent_part.hpp"

#include "file/plan/independent.hpp"
#include "file/plan/schedule_round.hpp"
#include "file/run/transfers.hpp"

#include <utility>

namespace sluice {

/// A transfer this short costs less than telling another thread about it.
constexpr Bytes inline_bytes = 256 * 1024;

void IndependentPart::choose(ExecutionContext const& execution_context, Answers const& answers) {
    Request const& r = state_.request;
    auto const rule = independent_rule(execution_context.limits, r.direction,
                                       execution_context.topology->rank_count(),
                                       call_.storage->independent_piece_bytes(r.direction));
    state_.independent = wants_independent(r, call_.hints, rule);
    if (state_.independent) return;
    bool const write = r.direction == Direction::write;
    bool const free = (write ? call_.hints.write : call_.hints.read) == Strategy::automatic;
    state_.independent = execution_context.limits.machine && free &&
                         answers.known_to_be_independent(r, state_.operation);
}

void IndependentPart::run_early() {
    if (!state_.independent || !call_.may_block || state_.request.bytes > inline_bytes) return;
    UserTransfer transfer(state_.request, state_.user);
    call_.storage->run(transfer);
    state_.note(transfer.error);
    state_.independent_bytes = transfer.bytes;
    done_ = ran_early_ = true;
}

void IndependentPart::start() {
    state_.independent = started_ = true;
    executor_.admit(make_independent(state_.request.direction), schedule_id);
}

bool IndependentPart::owes_bytes() const noexcept {
    bool const moved = state_.independent && state_.independent_bytes == state_.request.bytes;
    return call_.keeps && state_.writes_on && state_.request.bytes > 0 && !moved && !wrote_owed_;
}

/// What storage refuses is reported, whatever was before.
void IndependentPart::start_owed() {
    wrote_owed_ = true;
    error_before_ = std::exchange(state_.error, {});
    start();
}

}  // namespace sluice
