// How a thread sleeps until the network has something for it. See network_watch.hpp.
#include "mpi/progress/network_watch.hpp"

#include <algorithm>

namespace sluice {

void NetworkWatch::use(EventSource& source, EventCount& doorbell) {
    source_ = &source;
    if (source.descriptor() < 0) return;
    wake_socket_ = std::make_unique<WakeSocket>(doorbell);
    if (!wake_socket_->is_open()) wake_socket_.reset();
}

SourceNeed NetworkWatch::need() const noexcept {
    if (!is_busy()) return SourceNeed::nothing;
    return source_->waits_for_room() ? SourceNeed::short_sleeps : SourceNeed::descriptor;
}

/// Without a socket to be woken by, sleeps are short while the network is busy. Where the network
/// has no descriptor, its hooks say how long sleeps may be.
void NetworkWatch::sleep(EventWaiter& waiter, SourceNeed need, std::uint32_t seen,
                         double seconds_max) {
    if (need == SourceNeed::short_sleeps)
        seconds_max = std::min(seconds_max, PollState::short_sleep);
    if (need == SourceNeed::nothing || source_->descriptor() < 0)
        return waiter.sleep(seen, seconds_max);
    if (!source_->may_sleep()) return waiter.withdraw();
    if (wake_socket_) return waiter.sleep(*wake_socket_, source_->descriptor(), seen, seconds_max);
    waiter.sleep(seen, std::min(seconds_max, PollState::due_sleep));
}

}  // namespace sluice
