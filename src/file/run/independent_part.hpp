// The independent part of an operation are bytes of this rank that go straight between its memory
// and the file. Each rank decides for itself, at first before it hears of the others.
#pragma once
#include "file/run/call.hpp"
#include "file/run/executor.hpp"
#include "file/run/queue_state.hpp"

namespace sluice {

class IndependentPart {
public:
    static constexpr std::int32_t schedule_id = -2;  ///< To the executor.

    IndependentPart(Call const& call, ExchangeState& state, Executor& executor) noexcept
        : call_(call),
          state_(state),
          executor_(executor) {}

    /// Whether there is one, as far as this rank knows by itself. The request must be known.
    void choose(ExecutionContext const& execution_context, Answers const& answers);

    /// Moves a short one of a blocking call at once, in the calling thread.
    void run_early();

    /// It may start before the other ranks are heard of, unless one of them may have touched its
    /// bytes in an operation that is not complete.
    [[nodiscard]] bool may_start(Ahead const& ahead) const noexcept {
        return state_.independent && !done_ && (!call_.ordered || ahead.oldest < 0);
    }
    void start();
    void note_done() noexcept { done_ = true; }

    [[nodiscard]] bool has_started() const noexcept { return started_; }
    [[nodiscard]] bool is_done() const noexcept { return done_; }
    /// It was done before the exchange of summaries.
    [[nodiscard]] bool ran_early() const noexcept { return ran_early_; }

    /// Whether the call has returned, and some of this rank's bytes may not be in the file. Of an
    /// operation that has failed.
    [[nodiscard]] bool owes_bytes() const noexcept;
    /// Writes those, by this rank alone.
    void start_owed();
    /// What had gone wrong before remains the operation's error.
    void end_owed() noexcept { state_.error = first_of(state_.error, error_before_); }

private:
    Call const& call_;
    ExchangeState& state_;
    Executor& executor_;
    bool started_ = false, done_ = false, ran_early_ = false;
    bool wrote_owed_ = false;
    Error error_before_;  ///< What this rank had met then.
};

}  // namespace sluice
