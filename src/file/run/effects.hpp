// Effects carries out the ops of an operation's schedules: it finds the memory that an op names by
// its role in the operation's state, and calls the storage, the network or a copy. No function here
// blocks. The interpreter in schedule/schedule_run.hpp decides when an op starts.
#pragma once
#include "file/run/copy_effects.hpp"
#include "file/run/message_effects.hpp"
#include "file/run/transfer_effects.hpp"

namespace sluice {

class Effects final : public Actions {
public:
    Effects(ExecutionContext const& execution_context, Storage& storage,
            ExchangeState& state) noexcept
        : execution_context_(execution_context),
          state_(state),
          copies_(execution_context, state),
          messages_(execution_context, state),
          transfers_(execution_context, storage, state) {}

    bool start(Op const& op, Effect& effect) override;
    bool finish(Op const& op, Effect& effect) override;
    [[nodiscard]] std::string standing(Op const& op) const override;

    /// 0 where no trace is wanted.
    [[nodiscard]] double time_for_trace() const {
        return state_.trace.time(*execution_context_.clock);
    }
    void note_round(std::int32_t aggregator, std::int64_t round, double began) const {
        if (state_.trace.on()) state_.trace.round(aggregator, round, began, time_for_trace());
    }

private:
    bool await(Op const& op);
    void notify(Op const& op);
    void settle(Op const& op, std::int64_t turn);
    bool copy(Op const& op, Effect& effect);
    void merge(Op const& op);
    [[nodiscard]] Counter& counter(Op const& op) const noexcept;
    [[nodiscard]] std::int64_t base(Op const& op) const noexcept;

    ExecutionContext const& execution_context_;
    ExchangeState& state_;
    CopyEffects copies_;
    MessageEffects messages_;
    TransferEffects transfers_;
};

}  // namespace sluice
