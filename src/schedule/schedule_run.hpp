// A ScheduleRun is the interpreter of one schedule: it starts the ops whose predecessors are
// complete, collects those that are finished, and never blocks. Actions says what an op does:
// file/run/effects.hpp for files, collective/operation.hpp for collectives between memories.
#pragma once
#include "schedule/port.hpp"
#include "schedule/schedule.hpp"

#include <memory>

namespace sluice {

/// What a started op waits for.
struct Effect {
    Message message;
    std::unique_ptr<Transfer> transfer;
    std::unique_ptr<DeviceWork> copy;
    std::vector<std::byte> packed;  ///< Bytes of a message that do not lie together in memory.
    double began = 0;               ///< Only where a trace is wanted.
};

/// What ops do. Nothing of it blocks.
class Actions {
public:
    Actions() = default;
    virtual ~Actions() = default;
    Actions(Actions const&) = delete;
    Actions& operator=(Actions const&) = delete;

    /// Both return true when the op is complete. One that returns false and is `asked_again` was
    /// not begun: it comes to start() again.
    virtual bool start(Op const& op, Effect& effect) = 0;
    virtual bool finish(Op const& op, Effect& effect) = 0;
    /// For log lines: the current value of the counter that the op waits for, and the value needed.
    [[nodiscard]] virtual std::string standing(Op const& op) const = 0;
    [[nodiscard]] virtual bool asked_again(Op const& op) const noexcept {
        return op.kind == OpKind::await;
    }
};

/// A schedule, and who waits for whom in it. Never changes, so any number of activities run it.
class Graph {
public:
    explicit Graph(Schedule&& schedule);

    [[nodiscard]] std::vector<Op> const& ops() const noexcept { return schedule_.ops; }
    /// The ops that wait for this one, in their order.
    [[nodiscard]] std::span<std::uint32_t const> waiters(std::uint32_t op) const noexcept {
        return {waiters_.data() + first_waiter_[op], first_waiter_[op + 1] - first_waiter_[op]};
    }

private:
    Schedule schedule_;
    std::vector<std::uint32_t> first_waiter_, waiters_;
};

class ScheduleRun {
public:
    /// Takes the place of one that is done; its memory is used again. The graph outlives it.
    void begin(Graph const& graph);

    /// As far as possible; true when anything moved.
    bool advance(Actions& actions);
    [[nodiscard]] bool done() const noexcept { return left_ == 0; }
    /// No further op starts: it is done when those that have begun are finished.
    void abandon();
    /// The first op that waits; null: none does.
    [[nodiscard]] Op const* waiting_op() const noexcept {
        return ready_.empty() ? nullptr : &graph_->ops()[ready_.front()];
    }
    /// The same for people; empty when none does.
    [[nodiscard]] std::string waits_for(Actions const& actions) const;

private:
    struct Step {                 ///< One for each op.
        std::uint32_t unmet = 0;  ///< Ops that it still waits for.
        bool started = false;
        Effect effect;
    };

    bool step(std::uint32_t op, Actions& actions, bool& done);
    void release(std::uint32_t op);

    Graph const* graph_ = nullptr;
    std::vector<Step> steps_;
    std::vector<std::uint32_t> ready_;  ///< Not done, and nothing is left that they wait for.
    std::size_t left_ = 0;
    bool is_abandoned_ = false;
};

}  // namespace sluice
