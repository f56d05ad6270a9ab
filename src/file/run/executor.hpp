// The Executor runs the schedules of one file operation through the interpreter. Blocking and
// nonblocking calls and the simulation use the same code; file/run/effects.hpp says what the ops
// do.
#pragma once
#include "file/run/effects.hpp"

namespace sluice {

class Executor {
public:
    Executor(ExecutionContext& execution_context, Storage& storage, ExchangeState& state) noexcept
        : effects_(execution_context, storage, state) {}

    /// `id` comes back from progress() when all ops are complete.
    void admit(Schedule schedule, std::int32_t id = -1);

    /// True when anything moved. Ids of schedules that were completed are appended to `completed`.
    bool progress(std::vector<std::int32_t>& completed);

    /// No further op starts: it is idle when those that have begun are finished.
    void abandon();
    [[nodiscard]] bool idle() const noexcept { return admitted_.empty(); }
    /// The first op that waits, for people; empty when idle.
    [[nodiscard]] std::string waits_for() const;

private:
    struct Admitted {
        Admitted(Schedule schedule, std::int32_t its_id) : id(its_id), graph(std::move(schedule)) {
            schedule_run.begin(graph);
        }
        std::int32_t id;
        Graph graph;
        ScheduleRun schedule_run;
    };

    Effects effects_;
    std::vector<std::unique_ptr<Admitted>> admitted_;
};

}  // namespace sluice
