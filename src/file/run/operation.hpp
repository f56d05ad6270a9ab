// An Operation is one collective call on a file. It goes through four stages: exchange of
// summaries, claims, exchange, agreement. A pure function makes the schedules of each stage from
// the results of the stage before, and this class strings the stages together. Blocking,
// nonblocking, split and simulated calls are all this class.
#pragma once
#include "file/run/claims_exchange.hpp"
#include "file/run/conflicts.hpp"
#include "file/run/independent_part.hpp"
#include "file/run/planning.hpp"
#include "file/run/stage.hpp"

namespace sluice {

class Operation {
public:
    Operation(ExecutionContext& execution_context, QueueState& queue, Call&& call,
              std::int64_t number);

    /// Whether nothing has to end before it begins. While it does not begin no later one does.
    [[nodiscard]] bool may_start() const { return !call_.after || call_.after->finished(); }
    /// Begins: the rank posts what it wants. Nothing else happens before progress().
    void start(Ahead const& ahead);

    /// Moves on as far as it can without waiting; true when anything moved. Plans and rounds of the
    /// operations ahead come first; adds its own to `ahead`.
    bool progress(Ahead& ahead);

    /// A rank of the node has ended, without which it cannot go on: it is complete, with this error
    /// on this rank, when nothing of it is under way any more. Others may have another one. Bytes
    /// of a write whose call has returned are written before, by this rank alone.
    void abandon(Error const& why);
    /// Was abandoned, or it has failed: it begins no stage any more.
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }

    /// Moves a short part of a blocking call at once, in the calling thread, before the operation
    /// is appended: the exchange of summaries then tells the outcome, and nothing is left to agree
    /// on.
    void run_early() { independent_.run_early(); }

    /// In a blocking call the calling thread reads and writes the file: does the next transfer that
    /// is ready, and returns true. Blocks on the device. Not part of progress(), may run beside it.
    bool run_callers_part();

    /// Nobody else does them: the call is a blocking one, or waits for one that has just begun.
    [[nodiscard]] bool caller_transfers() const noexcept { return state_.caller_transfers; }

    /// The calling thread waits for the operation and may serve the file: where no storage thread
    /// does already, it does so from now on. Any time.
    void offer_caller() noexcept {
        if (!state_.storage_transfers) state_.caller_transfers = true;
    }

    /// Whether a blocking call may return before all ranks have ended theirs: this rank's bytes
    /// went straight between its memory and the file, and it has no part in the exchange of the
    /// others' bytes. What is left then needs neither the caller nor the user's memory. This and
    /// release_caller() not beside progress() or run_callers_part().
    [[nodiscard]] bool may_release_caller() const noexcept;
    /// Storage threads serve the file from now on.
    void release_caller() noexcept { state_.caller_transfers = false; }

    [[nodiscard]] bool complete() const noexcept {
        return complete_.load(std::memory_order_acquire);
    }
    // Valid once complete:
    [[nodiscard]] Status status() const noexcept { return result_; }  ///< The same on all ranks.
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }  ///< Of this rank, transferred.
    /// The same once may_release_caller() is true.
    [[nodiscard]] Bytes independent_bytes() const noexcept { return state_.independent_bytes; }

    /// Whether it may still touch bytes of `reach`; true while nobody knows. Of an ordered
    /// operation; not beside progress().
    [[nodiscard]] bool may_touch(Span reach) const noexcept {
        return !complete() && (!all_have_called() || !clip(summary_exchange_.reach, reach).empty());
    }
    /// All ranks have made the call: from here on it needs no thread of any program. Not beside
    /// progress().
    [[nodiscard]] bool all_have_called() const noexcept { return sluice::all_have_called(stage_); }

    [[nodiscard]] Direction direction() const noexcept { return call_.request.direction; }
    [[nodiscard]] Stage stage() const noexcept { return stage_; }
    [[nodiscard]] Plan const& plan() const noexcept { return state_.plan; }
    /// An earlier operation's claims served this one.
    [[nodiscard]] bool reused_plan() const noexcept { return claims_.reused(); }
    /// What was decided, and what it was expected to cost.
    [[nodiscard]] Decision const& decision() const noexcept { return planning_.decision(); }
    [[nodiscard]] Summary const& summary_exchange() const noexcept { return summary_exchange_; }
    [[nodiscard]] std::int64_t number() const noexcept { return state_.operation; }
    [[nodiscard]] double started() const noexcept { return started_; }  ///< When it was called.
    [[nodiscard]] double ended() const noexcept { return ended_; }
    [[nodiscard]] Tally const& tally() const noexcept { return state_.tally; }
    /// What this rank met first, and reported.
    [[nodiscard]] Error const& error() const noexcept { return state_.error; }
    /// Its number and what was called, for messages.
    [[nodiscard]] std::string title() const;
    /// One line for the stall watchdog: for people first, then what it stands at, in brackets.
    [[nodiscard]] std::string describe() const;
    /// What it waits for, for a trace.
    void describe(TraceEvent& wait) const;

private:
    void enter(Stage next);
    bool step(Ahead const& ahead);
    bool progress_stages(Ahead const& ahead);
    bool progress_to_end(Ahead const& ahead);
    void admit_control(Schedule&& schedule);
    void admit_reduction(Channel channel);

    void end_summary_exchange();
    void start_overlap();
    void end_overlap();
    void start_planned();
    void start_weights();
    void start_decided();
    void start_work();
    void start_agreement();
    void finish();
    void end(Status result);
    void wind_up(Status result);
    [[nodiscard]] bool planned() const noexcept { return stage_ >= Stage::claims; }

    ExecutionContext& execution_context_;
    QueueState& queue_;
    Call call_;
    ExchangeState state_;
    Executor executor_;
    IndependentPart independent_;
    Conflicts conflicts_;
    Planning planning_;
    Rounds rounds_;
    ClaimsExchange claims_;
    Stage stage_ = Stage::waiting;
    Summary summary_exchange_;
    bool is_ending_ = false;               ///< Only what has begun is finished, and owed bytes.
    std::vector<std::int32_t> completed_;  ///< Scratch for the executor's answers.
    std::int32_t control_left_ = 0;        ///< Schedules of the current stage, without direct ones.
    Status result_ = Status::ok;
    Bytes bytes_ = 0;
    double started_ = 0, ended_ = 0;
    double entered_ = 0;  ///< The stage it is in.
    std::atomic<bool> complete_{false};
};

}  // namespace sluice
