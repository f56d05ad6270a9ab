// A Gate throttles the messages of an aggregator by ops of the schedule: message number n is asked
// for when enough of those before it were taken. Only the generators of schedules use it.
#pragma once
#include "file/plan/delivery.hpp"
#include "schedule/schedule.hpp"

namespace sluice {

/// An await for the `n`-th message of an aggregator, where it must not be asked for at once.
class Gate {
public:
    Gate(Schedule& schedule, Throttle throttle, CounterRef const& counter)
        : schedule_(schedule),
          throttle_(throttle),
          counter_(counter) {}
    /// What message number `n` of the operation waits for, beside `after`.
    std::vector<std::uint32_t> pass(std::int64_t n, std::vector<std::uint32_t> after) {
        std::int64_t const needed = throttle_.needed_before(n);
        if (needed > 0) {
            if (last_ != none) after.push_back(last_);  // One await at a time is looked at.
            last_ = schedule_.add(Op::await(counter_, needed), after);
            after = {last_};
        }
        return after;
    }
    void count(std::uint32_t done) {
        if (throttle_.messages > 0) schedule_.add(Op::notify(counter_, 1), {done});
    }

private:
    Schedule& schedule_;
    Throttle throttle_;
    CounterRef counter_;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t last_ = none;
};

}  // namespace sluice
