// The Executor runs the schedules of one file operation through the interpreter. Blocking and
// nonblocking calls and the simulation use the same code; file/run/effects.hpp says what the ops
// do.
#pragma once
#include "file/run/effects.hpp"

namespace sluice {

class Executor {
public:
    Executor(ExecutionContext const& execution_context, Storage& storage,
             ExchangeState& state) noexcept
        : effects_(execution_context, storage, state) {}

    /// `id` comes back from progress() when all ops are complete. `round`: for traces, of the
    /// aggregator that `id` is.
    void admit(Schedule&& schedule, std::int32_t id = -1, std::int64_t round = -1);

    /// True when anything moved. Ids of schedules that were completed are appended to `completed`.
    bool progress(std::vector<std::int32_t>& completed);

    /// No further op starts: it is idle when those that have begun are finished.
    void abandon();
    [[nodiscard]] bool idle() const noexcept { return admitted_.empty(); }
    /// The first op that waits, for people; empty when idle.
    [[nodiscard]] std::string waits_for() const;
    /// The same; null when idle.
    [[nodiscard]] Op const* waiting_op() const noexcept;

private:
    struct Admitted {
        Admitted(Schedule&& schedule, std::int32_t its_id, std::int64_t its_round, double its_begin)
            : id(its_id),
              round(its_round),
              began(its_begin),
              graph(std::move(schedule)) {
            schedule_run.begin(graph);
        }
        std::int32_t id;
        std::int64_t round;
        double began;
        Graph graph;
        ScheduleRun schedule_run;
    };

    Effects effects_;
    std::vector<std::unique_ptr<Admitted>> admitted_;
};

}  // namespace sluice
