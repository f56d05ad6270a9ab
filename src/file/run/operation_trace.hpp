// An OperationTrace tells the trace of a file what one operation does. Where there is no trace it
// is off, and must not be asked.
#pragma once
#include "events/tracer.hpp"
#include "schedule/port.hpp"
#include "schedule/schedule.hpp"

namespace sluice {

/// What a rank waits for that finds this op not complete.
[[nodiscard]] TraceWait trace_wait_of(Op const& op) noexcept;

class OperationTrace {
public:
    OperationTrace() = default;
    OperationTrace(FileTrace const* to, std::int64_t operation) noexcept
        : to_(to && to->tracer->records() ? to : nullptr),
          operation_(operation) {}

    [[nodiscard]] bool on() const noexcept { return to_ != nullptr; }
    /// 0 where it is off.
    [[nodiscard]] double time(Clock& clock) const { return on() ? clock.now() : 0; }

    // Times are seconds of the execution context's clock.
    void operation(TraceKind kind, Bytes bytes, double began, double ended) const noexcept;
    void stage(TraceKind kind, double began, double ended) const noexcept;
    void round(std::int32_t aggregator, std::int64_t round, double began,
               double ended) const noexcept;
    void copy(Op const& op, double began, double ended) const noexcept;
    void transfer(Op const& op, Transfer const& transfer, double began,
                  double ended) const noexcept;
    struct End {  ///< This rank's end of a message.
        Rank self;
        double began, ended;
    };
    /// `number`: of its round or its operation, as both ends know it.
    void message(Op const& op, std::int64_t number, Bytes bytes, End const& end) const noexcept;
    /// What a thread waits for that finds this op not complete; null: nothing that is known.
    void wait(Op const* op, TraceEvent& event) const noexcept;

private:
    [[nodiscard]] TraceEvent event(TraceKind kind, double began, double ended) const noexcept;

    FileTrace const* to_ = nullptr;
    std::int64_t operation_ = -1;
};

}  // namespace sluice
