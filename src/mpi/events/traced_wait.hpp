// A TracedWait records when a thread that makes progress found nothing to do, and for what it
// waited: from the first attempt in vain to the next one that moved something.
#pragma once
#include "mpi/events/recorder.hpp"
#include "mpi/progress/progress_states.hpp"

namespace sluice {

class TracedWait {
public:
    explicit TracedWait(TraceWait reason = TraceWait::unknown) noexcept
        : recorder_(recorder()),
          reason_(reason) {}
    ~TracedWait() { end(); }
    TracedWait(TracedWait const&) = delete;
    TracedWait& operator=(TracedWait const&) = delete;

    /// `describe(event)` says what is under way.
    template <class Describe> void after_attempt(bool moved, Describe&& describe) {
        if (!recorder_) [[likely]]
            return refresh();
        if (moved) return end();
        if (waits_) return;
        event_ = {.kind = TraceKind::wait, .detail = static_cast<std::uint8_t>(reason_)};
        if (reason_ == TraceWait::unknown) describe(event_);
        waits_ = true;
    }
    /// The time is that of the attempt, which was taken anyway.
    void seen(PollState::Attempt const& attempt) noexcept {
        if (!waits_) [[likely]]
            return;
        if (attempt.moved) return end();
        event_.end = nanoseconds(attempt.now);
        if (event_.begin == 0) event_.begin = event_.end;
    }
    void woke() noexcept {
        if (waits_) event_.end = recorder_->now();
    }
    /// Of what moved nothing for longer than a poll takes.
    void end() noexcept {
        if (!waits_) [[likely]]
            return;
        waits_ = false;
        if (event_.end - event_.begin >= shortest) recorder_->add_wait(event_);
    }

private:
    static constexpr std::int64_t shortest = 1'000;
    /// A helper may be there before the trace is.
    void refresh() noexcept { recorder_ = recorder(); }

    Recorder* recorder_;
    TraceWait reason_;
    bool waits_ = false;
    TraceEvent event_;
};

}  // namespace sluice
