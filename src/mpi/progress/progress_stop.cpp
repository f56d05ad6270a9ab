// How progress ends with the process, or with the last session of the MPI, and what a caller does
// at the end of a wait where there is no helper. See progress.hpp.
#include "mpi/progress/progress.hpp"

#include <chrono>

namespace sluice {
namespace {

/// For what peers need, and for what the network may hold back.
constexpr double finish_seconds = 5, linger_seconds = 0.1;

}  // namespace

void Progress::stop() {
    if (!exists_) return;
    instance().finish_sends();
    instance().poll_while([] { return instance().source_is_busy(); }, linger_seconds);
    instance().end_helper();
}

/// Operations are complete here before the network has taken all that peers need for theirs. A peer
/// may begin its own late, but may also wait for the MPI's progress here, so not for long.
void Progress::finish_sends() {
    auto const is_needed = [&] {
        std::lock_guard const lock(mutex_);
        return hooks_.empty() && source_ && (source_->has_unsent() || source_->waits_for_room());
    };
    poll_while(is_needed, finish_seconds);
}

void Progress::poll_while(std::function<bool()> const& is_left, double seconds) {
    double const begin = clock_.now();
    while (is_left() && clock_.now() - begin < seconds) {
        poll_all();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void Progress::end_helper() {
    std::lock_guard const lock(helper_mutex_);
    if (!helper_.joinable()) return;
    stopping_ = true;
    notify(helper_calls_);
    ring();
    helper_.join();
    stopping_ = false;  // Another session may follow, and call for a helper again.
    helper_state_ = HelperState::State::asleep;
}

}  // namespace sluice
