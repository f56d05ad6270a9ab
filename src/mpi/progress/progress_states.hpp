// The two state machines of progress, without a lock, a clock or a thread, so that tests can walk
// through all of their states. PollState says how a thread that drives operations waits between two
// attempts. HelperState says whether the helper thread drives, looks for work, or sleeps.
#pragma once
#include <algorithm>
#include <cstdint>

namespace sluice {

/// How a thread that drives waits between two attempts to make progress:
///
///     polling --nothing moved for poll_seconds--> announced --still nothing--> asleep --> polling
///
/// An attempt that moved something leads back to polling from every state.
class PollState {
public:
    struct Limits {
        double poll_seconds;   ///< Polls for this long before it sleeps.
        double sleep_seconds;  ///< Sleeps for this long at most while no message is due.
    };
    /// What an attempt found.
    struct Attempt {
        bool moved = false;        ///< Something made progress, or a part of the caller's work.
        bool looks_again = false;  ///< A peer is about to answer: no sleep now.
        bool message_due =
            false;       ///< From another node, or from the MPI: no doorbell rings for it.
        double now = 0;  ///< Seconds; read only where nothing moved.
    };
    enum class Action : std::uint8_t {
        attempt,   ///< Make another attempt at once.
        poll,      ///< Let others run for a moment, then make another attempt.
        announce,  ///< Tell peers that this thread waits (EventWaiter::announce), and attempt.
        sleep,     ///< Sleep for seconds() at most, then call woke().
    };

    static constexpr double short_sleep = 1e-3;  ///< The first sleep; the MPI is polled after it.
    static constexpr double due_sleep = 50e-6;   ///< The first while a message is due; it doubles.
    static constexpr int equal_sleeps = 4;       ///< So many before a sleep becomes longer.

    explicit PollState(Limits limits) noexcept : limits_(limits) {}

    Action after(Attempt const& attempt) noexcept {
        if (attempt.moved) {
            reset();
            return Action::attempt;
        }
        if (!is_idle_) idle_since_ = attempt.now;
        is_idle_ = true;
        if (attempt.looks_again || attempt.now - idle_since_ < limits_.poll_seconds)
            return Action::poll;
        seconds_ = next_sleep(attempt.message_due);
        State const wanted = is_long() ? State::announced_for_long : State::announced;
        if (state_ >= wanted) return Action::sleep;
        state_ = wanted;
        return Action::announce;
    }

    /// Of the sleep that is announced or begins.
    [[nodiscard]] double seconds() const noexcept { return seconds_; }
    [[nodiscard]] bool is_long() const noexcept { return seconds_ > short_sleep; }

    void woke() noexcept {
        state_ = State::polling;
        if (!is_long()) ++sleeps_;
    }

    /// As after an attempt that moved something.
    void reset() noexcept {
        state_ = State::polling;
        is_idle_ = false;
        sleeps_ = 0;
    }

private:
    enum class State : std::uint8_t { polling, announced, announced_for_long };

    [[nodiscard]] double next_sleep(bool message_due) const noexcept {
        if (message_due) {
            int const doublings = std::min(sleeps_ / equal_sleeps, 5);
            return std::min(short_sleep, due_sleep * (1 << doublings));
        }
        return sleeps_ == 0 ? short_sleep : limits_.sleep_seconds;
    }

    Limits limits_;
    State state_ = State::polling;
    bool is_idle_ = false;
    double idle_since_ = 0, seconds_ = 0;
    int sleeps_ = 0;
};

/// What the helper thread does:
///
///     asleep --called--> waiting --wait_seconds--> driving, dozing or leaving
///     driving --no work, or a caller drives--> dozing --doze_seconds--> leaving --> asleep
///
/// Work that no caller drives leads from dozing back to driving.
/// It waits a moment when it is called, because many programs wait for a nonblocking operation at
/// once: then the thread that waits does all the work, and a helper that began would only take its
/// core. If a caller drives when the moment is over, the helper sleeps again, as that caller calls
/// it when it leaves work behind.
/// While it dozes it looks for work by itself, because to wake it would cost who begins a short
/// collective more than all the rest of it. From `leaving` on, who has work must call it.
class HelperState {
public:
    enum class State : std::uint8_t { waiting, driving, dozing, leaving, asleep };
    struct Input {
        bool called = false;  ///< Somebody rang for it since the last look.
        bool has_work = false;
        bool caller_drives = false;
        double now = 0;
    };

    static constexpr double wait_seconds = 50e-6;         ///< Since it was called.
    static constexpr double doze_seconds = 2e-3;          ///< Since the last work.
    static constexpr double doze_sleep_seconds = 100e-6;  ///< Between two looks.

    State after(Input const& input) noexcept {
        bool const waited = state_ == State::waiting, dozed = state_ == State::dozing;
        if (state_ == State::asleep && input.called) {
            since_ = input.now;
            return state_ = State::waiting;
        }
        if (waited && input.now - since_ < wait_seconds) return state_;
        if (input.has_work && !input.caller_drives) return state_ = State::driving;
        if (waited && input.caller_drives) return state_ = State::leaving;
        if (input.called || waited || state_ == State::driving) {
            since_ = input.now;
            return state_ = State::dozing;
        }
        if (!dozed) return state_ = State::asleep;
        return state_ = input.now - since_ < doze_seconds ? State::dozing : State::leaving;
    }

    /// Whether it looks for work by itself.
    [[nodiscard]] static bool looks_soon(State state) noexcept {
        return state == State::dozing || state == State::waiting;
    }
    /// How long it sleeps at most before it looks again, where it looks by itself.
    [[nodiscard]] double seconds(double now) const noexcept {
        return state_ == State::waiting ? since_ + wait_seconds - now : doze_sleep_seconds;
    }

private:
    State state_ = State::driving;
    double since_ = 0;  ///< The call that it waits after, or the last work.
};

}  // namespace sluice
