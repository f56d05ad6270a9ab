// Virtual time: events in the order of their times, and every random number that is drawn.
#pragma once
#include "schedule/port.hpp"

#include <queue>
#include <random>
#include <vector>

namespace sluice::simulated {

/// Whom events happen to. Events are values, so that millions of them cost no allocation each.
class Handler {
public:
    virtual void happened(std::uint32_t kind, std::uint64_t subject) = 0;

protected:
    ~Handler() = default;
};

/// Events in virtual time. Equal seeds give equal runs.
class Time final : public Clock {
public:
    explicit Time(std::uint64_t seed) : random_(seed) {}
    double now() override { return now_; }

    /// Tells `who` at that time, which is not before now; at equal times in the order of calls.
    void at(double when, Handler& who, std::uint32_t kind, std::uint64_t subject) {
        events_.push({when, number_++, &who, subject, kind});
    }
    /// Runs events until none is left; false when more than `events_max` happened: a livelock.
    bool run(std::int64_t events_max);

    [[nodiscard]] std::int64_t events() const noexcept { return number_; }  ///< So far.

    /// A drawn number in [0, below).
    std::uint64_t draw(std::uint64_t below) { return random_() % below; }
    /// A drawn delay of at most `seconds_max`.
    double draw_seconds(double seconds_max) {
        return static_cast<double>(draw(1u << 20)) / (1u << 20) * seconds_max;
    }
    /// A drawn number of the normal distribution with mean 0 and deviation 1.
    double draw_normal() { return normal_(random_); }

private:
    struct Event {
        double when;
        std::int64_t number;
        Handler* who;
        std::uint64_t subject;
        std::uint32_t kind;
        bool operator>(Event const& o) const noexcept {
            return when != o.when ? when > o.when : number > o.number;
        }
    };
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    double now_ = 0;
    std::int64_t number_ = 0;
};

}  // namespace sluice::simulated
