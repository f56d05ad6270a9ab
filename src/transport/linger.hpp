// Linger says how long a process goes on making progress on its fabric when all its messages are
// complete. A provider may say that bytes are sent and hold them back: `tcp` copies short messages,
// and the end of long ones, where a connection takes no more, and they go when somebody makes
// progress. What a new connection takes at once (the default of tcp_wmem) needs no care.
#pragma once
#include "schedule/port.hpp"

#include <cstdint>

namespace sluice {

class Linger {
public:
    static constexpr std::uint64_t connection_takes = 16384;
    /// The buffers of 30 connections, of 4 MiB each, go meanwhile at 1 Gbit/s.
    static constexpr double seconds = 1;

    /// `is_idle`: all messages are complete. `sent`: bytes since the process began.
    [[nodiscard]] bool goes_on(bool is_idle, std::uint64_t sent, Clock& clock) {
        if (!is_idle || sent - gone_ <= connection_takes) {
            idle_since_ = 0;
            return false;
        }
        double const now = clock.now();
        if (idle_since_ == 0) idle_since_ = now;
        if (now - idle_since_ < seconds) return true;
        gone_ = sent;
        return false;
    }

private:
    std::uint64_t gone_ = 0;  ///< Bytes that nobody holds back any more.
    double idle_since_ = 0;   ///< 0: it is not idle, or has no reason to go on.
};

}  // namespace sluice
