// A WakeSocket lets a thread sleep on a descriptor of somebody else's and on an event count at
// once: whoever notifies the event count sends a datagram to the socket, while somebody sleeps
// there.
#pragma once
#include "system/descriptor.hpp"
#include "system/event_count.hpp"

namespace sluice {

class WakeSocket {
public:
    /// Whoever notifies `count` wakes this process from now on, which may be another process of the
    /// node if the count is in shared memory.
    explicit WakeSocket(EventCount& count);

    /// False where the system gives no socket: then there is nothing to sleep on.
    [[nodiscard]] bool is_open() const noexcept { return fd_.get() >= 0; }
    /// Sleeps until `fd` polls readable, an event came after `seen` was loaded, or the time is
    /// over.
    void sleep(int fd, std::uint32_t seen, double seconds_max) noexcept;

private:
    EventCount& count_;
    Descriptor fd_;
};

/// Wakes who sleeps in a WakeSocket of the count; notify() calls it.
void wake_socket_of(EventCount const& count) noexcept;

}  // namespace sluice
