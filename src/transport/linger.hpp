// Linger says how long a process goes on making progress on its fabric when all its messages are
// complete. A provider may say that bytes are sent and hold them back: `tcp` copies the end of a
// write where a connection takes no more, and sends the copy when this process makes progress. The
// receiver has posted the memory for such a write, so a limited time is enough. Credits tell when
// short messages have come.
#pragma once
#include "schedule/port.hpp"

#include <cstdint>

namespace sluice {

class Linger {
public:
    /// At once, when it is new: the default of tcp_wmem.
    static constexpr std::uint64_t connection_takes = 16384;
    /// The buffers of 30 connections, of 4 MiB each, go meanwhile at 1 Gbit/s.
    static constexpr double seconds = 1;

    /// `is_idle`: all messages are complete. `written`: bytes since the process began.
    [[nodiscard]] bool goes_on(bool is_idle, std::uint64_t written, Clock& clock) {
        if (!is_idle || written - gone_ <= connection_takes) {
            idle_since_ = 0;
            return false;
        }
        double const now = clock.now();
        if (idle_since_ == 0) idle_since_ = now;
        if (now - idle_since_ < seconds) return true;
        gone_ = written;
        return false;
    }

private:
    std::uint64_t gone_ = 0;  ///< Bytes that nobody holds back any more.
    double idle_since_ = 0;   ///< 0: it is not idle, or has no reason to go on.
};

}  // namespace sluice
