// An OperationQueue holds the operations of one file in the order of the calls. All ranks make the
// collective calls on a file in the same order, so they agree on the numbers of operations and
// rounds without a message. The class is not safe for several threads: src/mpi/progress locks it,
// and the simulation has one thread.
#pragma once
#include "file/run/operation.hpp"
#include "schedule/progress_hook.hpp"

#include <deque>

namespace sluice {

class OperationQueue final : public ProgressHook {
public:
    explicit OperationQueue(ExecutionContext& execution_context);

    /// The next operation in the order of the program's calls. Touches nothing that progress()
    /// uses, so that a call can be made while another thread is at work.
    [[nodiscard]] std::shared_ptr<Operation> make(Call call);

    /// The last one that make() made will not be appended: the next one has its number.
    void unmake() noexcept;
    /// Appends what make() made, in that order; at most operations_under_way are under way at once.
    void append(std::shared_ptr<Operation> operation);

    bool progress() override;

    /// What it remembers of earlier operations was for other aggregators, or for another machine.
    /// Only while idle.
    void forget() {
        state_.plans = {};
        state_.answers.forget();
    }

    [[nodiscard]] bool idle() const noexcept override { return queue_.empty(); }
    [[nodiscard]] int due() const noexcept override {
        return execution_context_.network ? execution_context_.network->due() : 0;
    }
    [[nodiscard]] std::string describe() const override;
    void describe(TraceEvent& wait) const override;

private:
    [[nodiscard]] Caller& caller() const noexcept;
    void tell_calls() const noexcept;
    void begin_at_front();
    bool abandon_if_lost();

    ExecutionContext& execution_context_;
    QueueState state_;
    Ahead ahead_;  ///< Of progress(): kept, since waiting callers ask often.
    std::deque<std::shared_ptr<Operation>> queue_;
    std::int64_t next_number_ = 0;
};

}  // namespace sluice
