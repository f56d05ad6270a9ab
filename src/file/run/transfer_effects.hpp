// The effects of ops that write and read the file.
#pragma once
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"
#include "schedule/schedule_run.hpp"

namespace sluice {

class TransferEffects {
public:
    TransferEffects(ExecutionContext const& execution_context, Storage& storage,
                    ExchangeState& state) noexcept
        : execution_context_(execution_context),
          storage_(storage),
          state_(state) {}

    void start(Op const& op, Effect& effect);
    /// After most errors rounds flow on, but the file is left alone, and readers get nothing.
    void skip(Op const& op);
    /// True when it is done.
    bool finish(Op const& op, Effect& effect);

private:
    [[nodiscard]] std::unique_ptr<Transfer> cb_buffer_transfer(Op const& op, Direction way) const;
    void note_end(Op const& op, Transfer const& transfer, double now);

    ExecutionContext const& execution_context_;
    Storage& storage_;
    ExchangeState& state_;
};

}  // namespace sluice
