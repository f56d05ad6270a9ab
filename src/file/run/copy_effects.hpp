// The effects of ops that copy: claims, and bytes between user memory, collective buffers and
// messages. Records of reductions are copied by records.hpp.
#pragma once
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"
#include "schedule/schedule_run.hpp"

namespace sluice {

class CopyEffects {
public:
    CopyEffects(ExecutionContext const& execution_context, ExchangeState& state) noexcept
        : execution_context_(execution_context),
          state_(state) {}

    /// True when it is done; else a device copies.
    bool start(Op const& op, Effect& effect);
    /// The same of one that a device makes.
    bool finish(Op const& op, Effect& effect);

private:
    void copy_claims(Op const& op);
    void copy_data(Op const& op, UserCopies& copies);
    void copy_user(Op const& op, UserCopies& copies);
    void tell_work(Op const& op);
    void pack(Op const& op, UserCopies& copies);
    bool unpack(Op const& op, UserCopies& copies);
    void end(Op const& op, double began);
    [[nodiscard]] CbBuffer cb_buffer(Op const& op) const;

    ExecutionContext const& execution_context_;
    ExchangeState& state_;
};

}  // namespace sluice
