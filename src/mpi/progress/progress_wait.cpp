// What a thread that drives does between two attempts to make progress. See progress.hpp.
#include "mpi/progress/progress.hpp"

#include "system/cpu_pause.hpp"

#include <algorithm>
#include <sched.h>

namespace sluice {
namespace {

constexpr double idle_poke_seconds = 20e-6;

}  // namespace

/// The program may have given the MPI many messages, and one call may move no more than one. But
/// peers wait for a thread that is not idle. Returns the time.
double Progress::poke_mpi(Wait const& wait, bool is_idle) {
    double const until = is_idle ? clock_.now() + idle_poke_seconds : 0;
    for (;;) {
        wait.poke();
        if (double const now = clock_.now(); now >= until) return now;
    }
}

/// What comes before the next attempt, but for a sleep.
void Progress::prepare(PollState::Action action, PollState const& state,
                       EventWaiter& waiter) const noexcept {
    if (action == PollState::Action::attempt) waiter.withdraw();
    if (action == PollState::Action::announce) waiter.announce(state.is_long());
    if (action != PollState::Action::poll) return;
    // Another attempt is cheaper than a sleep; where ranks share cores, let another one run.
    if (may_spin_ && !is_helper())
        cpu_pause();
    else
        sched_yield();
}

/// Without a socket to be woken by, sleeps are short while the source is busy. Without a descriptor
/// its hooks say how long they may be.
void Progress::sleep(EventWaiter& waiter, std::uint32_t seen, double seconds_max) {
    SourceNeed const need = source_need();
    if (is_helper()) helper_watches_ = need;
    if (source_need() > need) return waiter.withdraw();
    if (need == SourceNeed::short_sleeps)
        seconds_max = std::min(seconds_max, PollState::short_sleep);
    if (need == SourceNeed::nothing || source_->descriptor() < 0)
        return waiter.sleep(seen, seconds_max);
    if (!source_->may_sleep()) return waiter.withdraw();
    if (wake_socket_) return waiter.sleep(*wake_socket_, source_->descriptor(), seen, seconds_max);
    waiter.sleep(seen, std::min(seconds_max, PollState::due_sleep));
}

}  // namespace sluice
