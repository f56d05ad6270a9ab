// A collective between memories that is under way: a schedule, shared with all calls of equal
// sizes, and the memory that this call binds to its roles.
#pragma once
#include "base/status.hpp"
#include "collective/algorithms.hpp"
#include "collective/blocks.hpp"
#include "collective/reduction.hpp"
#include "schedule/schedule_run.hpp"

#include <atomic>
#include <functional>

namespace sluice {

/// What a call brings beside its sizes.
struct CollectiveBuffers {
    Blocks input, output;
    Reduction const* reduction = nullptr;  ///< Of kinds that reduce; lives as long as the call,
    std::shared_ptr<Reduction const> own;  ///< or is this one.
    std::shared_ptr<void const> kept;      ///< Memory of the library's own among them.
};

/// The result of a call, shared by who made it and who moves it on.
class CollectiveState {
public:
    [[nodiscard]] bool complete() const noexcept {
        return complete_.load(std::memory_order_acquire);
    }
    /// Once it is complete. Each rank has its own: MPI's collectives agree on nothing.
    [[nodiscard]] Error const& error() const noexcept { return error_; }
    [[nodiscard]] Status status() const noexcept { return error_.status; }
    /// For what moves it on, before it is complete; the first error stays.
    void fail(Error const& what) noexcept { error_ = first_of(error_, what); }

protected:
    std::atomic<bool> complete_{false};
    Error error_;
};

/// A schedule ready to run, for all calls of equal sizes.
struct CollectivePlan {
    explicit CollectivePlan(CollectiveSchedule made)
        : graph(std::move(made.schedule)),
          scratch(made.scratch) {}
    Graph graph;
    Bytes scratch;
};

/// What a call does next: a schedule with its memory. Most calls have one stage; where sizes become
/// known on the way, the end of the first one brings the second.
struct CollectiveStage {
    std::shared_ptr<CollectivePlan const> plan;
    CollectiveBuffers buffers;
    /// Called once this stage is complete on this rank, by who moves it on; null: it was the last.
    std::function<CollectiveStage(CollectiveState& state)> next;
    Error error{};  ///< That this rank has met before it began: its messages are empty.
};

/// Where collectives of one communicator run.
struct CollectiveExecutionContext {
    Network* network = nullptr;
    /// Whether the thread that asks may call MPI, as some reductions must.
    std::function<bool()> may_call_mpi;
};

/// A call. After an error its messages flow on, but empty, so that no other rank waits for ever or
/// takes wrong bytes for right ones.
class Collective final : public CollectiveState, private Actions {
public:
    /// `number`: of the call among those of the communicator; tells its messages from others'.
    Collective(CollectiveExecutionContext const& execution_context, CollectiveStage&& stage,
               std::uint64_t number) noexcept
        : execution_context_(execution_context),
          stage_(std::move(stage)),
          number_(number) {}

    /// `schedule_run` is memory to run in, which a call that is done gives back.
    void begin(ScheduleRun schedule_run);
    [[nodiscard]] ScheduleRun end() noexcept { return std::move(schedule_run_); }
    /// As far as possible; true when anything moved. `is_start`: some call was begun just now and
    /// is to return soon, so long copies are left to whoever looks next.
    bool progress(bool is_start);
    [[nodiscard]] bool has_copies_left() const noexcept { return copies_left_ > 0; }
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] std::string describe() const;

    /// Calls of one communicator that may be under way at once: more have equal tags.
    static constexpr std::uint64_t under_way_most = 256;

private:
    /// Bytes of a role that lie together in memory, or a packed copy of them.
    struct Part {
        std::byte* memory = nullptr;
        bool is_copy = false;
    };

    bool start(Op const& op, Effect& effect) override;
    bool finish(Op const& op, Effect& effect) override;
    [[nodiscard]] std::string standing(Op const& op) const override;
    [[nodiscard]] bool asked_again(Op const& op) const noexcept override;

    [[nodiscard]] std::byte* memory(Memory role, Bytes at, Bytes bytes) noexcept;
    [[nodiscard]] Blocks const& blocks(Memory role) const noexcept;
    /// `keep` holds the copy where one is needed.
    Part read_part(Memory role, Bytes at, Bytes bytes, std::vector<std::byte>& keep);
    void copy(Op const& op);
    void reduce(Op const& op);
    void start_message(Op const& op, Effect& effect);
    void begin_stage();
    void end_stages();
    void let_go() noexcept;

    CollectiveExecutionContext const& execution_context_;
    CollectiveStage stage_;
    std::uint64_t number_;
    ScheduleRun schedule_run_;
    std::unique_ptr<std::byte[]> scratch_;
    std::vector<std::byte> left_, right_;  ///< Packed operands of a reduction.
    int tag_ = 0;
    int copies_left_ = 0;
    bool leaves_copies_ = false;
};

}  // namespace sluice
