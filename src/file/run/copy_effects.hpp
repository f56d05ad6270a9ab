// The effects of ops that copy: claims, and bytes between user memory, collective buffers and
// messages. Records of reductions are copied by records.hpp.
#pragma once
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"

namespace sluice {

class CopyEffects {
public:
    CopyEffects(ExecutionContext const& execution_context, ExchangeState& state) noexcept
        : execution_context_(execution_context),
          state_(state) {}

    void copy(Op const& op);

private:
    void copy_claims(Op const& op);
    void copy_data(Op const& op);
    void copy_user(Op const& op);
    void tell_work(Op const& op);
    void pack(Op const& op);
    bool unpack(Op const& op);
    [[nodiscard]] CbBuffer cb_buffer(Op const& op) const;

    ExecutionContext const& execution_context_;
    ExchangeState& state_;
};

}  // namespace sluice
