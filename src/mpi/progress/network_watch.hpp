// NetworkWatch holds the network that the operations of a process share, and lets a thread sleep
// until the network, or a doorbell, has something for it.
#pragma once
#include "mpi/progress/helper_wakeup.hpp"
#include "schedule/progress_hook.hpp"
#include "system/wake_socket.hpp"

#include <memory>

namespace sluice {

class NetworkWatch {
public:
    /// Called once, before anything of the network is under way. It wakes with `doorbell`, too.
    void use(EventSource& source, EventCount& doorbell);

    [[nodiscard]] bool is_busy() const noexcept { return source_ && source_->is_busy(); }
    /// Whether peers may need something that is not sent yet, or not certainly.
    [[nodiscard]] bool has_unsent() const noexcept { return source_ && source_->has_unsent(); }
    [[nodiscard]] bool waits_for_room() const noexcept {
        return source_ && source_->waits_for_room();
    }
    [[nodiscard]] SourceNeed need() const noexcept;
    bool progress() { return is_busy() && source_->progress(); }
    /// What the last operation sent is mostly complete at once, and to ask the network costs less
    /// than to wake the helper for it.
    void finish_sends() {
        if (has_unsent()) source_->progress();
    }

    /// Sleeps as `need` demands, which the caller asked for before it looked for work the last
    /// time. Withdraws the waiter in any case.
    void sleep(EventWaiter& waiter, SourceNeed need, std::uint32_t seen, double seconds_max);

private:
    EventSource* source_ = nullptr;
    std::unique_ptr<WakeSocket> wake_socket_;  ///< Null where there is nothing to poll.
};

}  // namespace sluice
