// Effects carries out the ops of an operation's schedules: it finds the memory that an op names by
// its role in the operation's state, and calls the storage, the network or a copy. No function here
// blocks. The interpreter in schedule/schedule_run.hpp decides when an op starts.
#pragma once
#include "file/run/exchange.hpp"
#include "file/run/execution_context.hpp"
#include "schedule/schedule_run.hpp"

namespace sluice {

class Effects final : public Actions {
public:
    Effects(ExecutionContext& execution_context, Storage& storage, ExchangeState& state) noexcept
        : execution_context_(execution_context),
          storage_(storage),
          state_(state) {}

    bool start(Op const& op, Effect& effect) override;
    bool finish(Op const& op, Effect& effect) override;
    [[nodiscard]] std::string standing(Op const& op) const override;

    /// 0 where no trace is wanted.
    [[nodiscard]] double time_for_trace() const {
        return state_.trace.on() ? execution_context_.clock->now() : 0;
    }
    void note_round(std::int32_t aggregator, std::int64_t round, double began) const {
        if (state_.trace.on()) state_.trace.round(aggregator, round, began, time_for_trace());
    }

private:
    bool await(Op const& op);
    void notify(Op const& op);
    void settle(Op const& op, std::int64_t turn);
    void ring_ranks(std::uint64_t waiters);
    bool obtain(Op const& op);
    bool find_cb_buffer(Op const& op);
    std::int32_t take_cb_buffer(Op const& op);
    bool comes_next(Op const& op);
    void give_back(Op const& op);
    void ring_for_cb_buffers();
    void copy(Op const& op);
    void copy_data(Op const& op);
    void copy_user(Op const& op);
    void tell_work(Op const& op);
    void copy_claims(Op const& op);
    void pack(Op const& op);
    bool unpack(Op const& op);
    void merge(Op const& op);
    void start_message(Op const& op, Effect& effect);
    void finish_message(Op const& op, Effect const& effect);
    bool skip_transfer(Op const& op);
    [[nodiscard]] std::unique_ptr<Transfer> cb_buffer_transfer(Op const& op, Direction way) const;
    void start_transfer(Op const& op, Effect& effect);
    void finish_transfer(Op const& op, Transfer const& transfer, double now);

    [[nodiscard]] Counter& counter(Op const& op) const noexcept;
    [[nodiscard]] std::int64_t base(Op const& op) const noexcept;
    [[nodiscard]] CbBuffer cb_buffer(Op const& op) const;
    [[nodiscard]] std::span<std::byte> message_memory(Op const& op);
    [[nodiscard]] std::span<std::byte> target_of_parts(Op const& op, std::span<std::byte> memory);
    [[nodiscard]] Bytes bytes_of(Op const& op, Message const& message);
    [[nodiscard]] Message send(Op const& op, std::span<std::byte const> memory);
    [[nodiscard]] int tag(Op const& op) const noexcept;

    ExecutionContext& execution_context_;
    Storage& storage_;
    ExchangeState& state_;
};

}  // namespace sluice
