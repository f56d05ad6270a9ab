// The effects of ops that send and receive. What is in a message is packed before it is sent, and
// unpacked after it came, by ops of their own: see copy_effects.hpp.
#pragma once
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"
#include "schedule/schedule_run.hpp"

namespace sluice {

class MessageEffects {
public:
    MessageEffects(ExecutionContext const& execution_context, ExchangeState& state) noexcept
        : execution_context_(execution_context),
          state_(state) {}

    void start(Op const& op, Effect& effect);
    /// The network is done with it.
    void finish(Op const& op, Effect const& effect);

private:
    [[nodiscard]] std::span<std::byte> memory_of(Op const& op);
    [[nodiscard]] std::span<std::byte> target_of_parts(Op const& op, std::span<std::byte> memory);
    [[nodiscard]] Packed const* parts_beside(Op const& op) const;
    [[nodiscard]] Bytes bytes_of(Op const& op, Message const& message);
    [[nodiscard]] Message send(Op const& op, std::span<std::byte const> memory);
    [[nodiscard]] int tag(Op const& op) const noexcept;

    ExecutionContext const& execution_context_;
    ExchangeState& state_;
};

}  // namespace sluice
