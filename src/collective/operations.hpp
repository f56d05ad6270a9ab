// The collectives of one communicator that are under way. They do not wait for each other. The
// class is not safe for several threads: src/mpi/progress locks it, and the simulation has one
// thread.
#pragma once
#include "collective/operation.hpp"
#include "schedule/progress_hook.hpp"

#include <algorithm>
#include <deque>

namespace sluice {

class Collectives final : public ProgressHook {
public:
    explicit Collectives(CollectiveExecutionContext execution_context)
        : execution_context_(std::move(execution_context)) {}

    /// A call to be appended later, by any thread. `number`: counts the calls of the communicator,
    /// in the program's order.
    [[nodiscard]] std::shared_ptr<Collective> make(CollectiveStage&& stage,
                                                   std::uint64_t number) const {
        return std::make_shared<Collective>(execution_context_, std::move(stage), number);
    }
    void append(std::shared_ptr<Collective> collective);

    bool progress() override;
    [[nodiscard]] bool idle() const noexcept override {
        return running_.empty() && waiting_.empty();
    }
    [[nodiscard]] int due() const noexcept override { return execution_context_.network->due(); }
    [[nodiscard]] bool must_look_again() noexcept override {
        return !running_.empty() &&
               (execution_context_.network->must_look_again() || has_copies_left());
    }
    [[nodiscard]] std::string describe() const override;

private:
    [[nodiscard]] bool has_copies_left() const noexcept {
        return std::any_of(running_.begin(), running_.end(),
                           [](auto const& collective) { return collective->has_copies_left(); });
    }
    template <class Ordered>
    static void insert(Ordered& into, std::shared_ptr<Collective> collective);
    [[nodiscard]] bool may_run(Collective const& collective) const noexcept;
    void run(std::shared_ptr<Collective> collective);
    void start_waiting();
    bool advance(bool is_start);

    CollectiveExecutionContext execution_context_;
    std::vector<std::shared_ptr<Collective>> running_;  ///< By growing number, as those waiting.
    std::deque<std::shared_ptr<Collective>> waiting_;
    std::vector<ScheduleRun> spare_;  ///< Used again, with their memory.
    bool has_new_ = false;            ///< Among those running: not asked yet.
};

}  // namespace sluice
