// Runs schedules: starts what may start, collects what is finished, never blocks. The same code
// drives blocking and nonblocking calls and the simulation; the outside is behind the site's ports.
#pragma once
#include "run/exchange.hpp"
#include "run/site.hpp"

#include <memory>

namespace sluice {

class Executor {
public:
    Executor(Site& site, Storage& storage, ExchangeState& state) noexcept
        : site_(site),
          storage_(storage),
          state_(state) {}

    /// `id` comes back from finished_ids() when all ops are complete.
    void admit(Schedule schedule, std::int32_t id = -1);

    /// True when anything moved. Ids of schedules that were completed are appended to `completed`.
    bool progress(std::vector<std::int32_t>& completed);

    [[nodiscard]] bool idle() const noexcept { return activities_.empty(); }
    /// The first op that waits, for people; empty when idle.
    [[nodiscard]] std::string waits_for() const;

private:
    enum class OpState : std::uint8_t { waiting, started, done };
    struct Effect {  ///< What a started op waits for.
        Message message;
        std::unique_ptr<Transfer> transfer;
    };
    struct Step {
        OpState state = OpState::waiting;
        Effect effect;
    };
    struct Activity {
        std::int32_t id;
        Schedule schedule;
        std::vector<Step> steps;  ///< One for each op.
        std::size_t left;
        std::size_t first = 0;  ///< All ops before this one are done.
    };

    bool advance(Activity& activity);
    bool ready(Activity const& activity, Op const& op) const noexcept;
    /// Both return true when the op is complete.
    bool start(Op const& op, Effect& effect);
    bool finish(Op const& op, Effect& effect);

    bool await(Op const& op);
    void notify(Op const& op);
    void ring_ranks(std::uint64_t waiters);
    void copy(Op const& op);
    void copy_message(Op const& op);
    void merge(Op const& op);
    void start_message(Op const& op, Effect& effect);
    void finish_recv(Op const& op, Message const& message);
    bool skip_transfer(Op const& op);
    [[nodiscard]] std::unique_ptr<Transfer> slot_transfer(Op const& op, Direction way) const;
    void start_transfer(Op const& op, Effect& effect);
    void finish_transfer(Op const& op, Transfer const& transfer);

    [[nodiscard]] Counter& counter(Op const& op) const noexcept;
    [[nodiscard]] std::int64_t base(Op const& op) const noexcept;
    [[nodiscard]] Slot slot(Op const& op) const noexcept;
    [[nodiscard]] std::span<std::byte> message_memory(Op const& op);
    [[nodiscard]] int tag(Op const& op) const noexcept;

    Site& site_;
    Storage& storage_;
    ExchangeState& state_;
    std::vector<std::unique_ptr<Activity>> activities_;
};

}  // namespace sluice
