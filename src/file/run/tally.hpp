// A Tally adds up where the time of operations went on one rank, and what the rank sent to other
// nodes. Times are seconds of the execution context's clock.
#pragma once
#include "base/layout.hpp"

namespace sluice {

/// The time in which at least one thing of a kind was under way.
class Busy {
public:
    void begin(double now) noexcept {
        if (under_way_++ == 0) since_ = now;
    }
    void end(double now) noexcept {
        if (--under_way_ == 0) seconds_ += now - since_;
    }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }

private:
    int under_way_ = 0;
    double since_ = 0, seconds_ = 0;
};

struct Tally {
    // The stages, one after the other; exchange of summaries from when the call was made.
    double summary_exchange = 0, claims = 0, exchange = 0, agreement = 0;
    double copies = 0;     ///< Between user memory, collective buffers and messages.
    double transfers = 0;  ///< A transfer to or from the file was under way.
    double messages = 0;   ///< A message with data was under way, or its receive was open.
    std::int64_t messages_sent = 0;
    Bytes bytes_sent = 0;
    Bytes bytes_placed = 0;  ///< Of those, written to their places at the receiver.

    Tally& operator+=(Tally const& other) noexcept {
        summary_exchange += other.summary_exchange, claims += other.claims;
        exchange += other.exchange, agreement += other.agreement;
        copies += other.copies, transfers += other.transfers, messages += other.messages;
        messages_sent += other.messages_sent, bytes_sent += other.bytes_sent;
        bytes_placed += other.bytes_placed;
        return *this;
    }
};

}  // namespace sluice
