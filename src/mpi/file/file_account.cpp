// What a File adds up of its operations, and what it tells a trace of them. See file.hpp.
#include "mpi/events/job_trace.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/file.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sluice {

void File::begin_trace(std::uint64_t number) {
    trace_ = trace_of_file(name, number, team->communicator);
    place_.execution_context.trace = trace_.get();
}

void File::end_trace() { place_.execution_context.trace = nullptr; }

void File::note_in_trace(Operation const& operation, Bytes bytes) const {
    if (trace_) TracedCall::note(trace_->file, operation.number(), bytes);
}

void File::blocked(double seconds) {
    std::lock_guard const lock(mutex_);
    statistics_.blocked_seconds += seconds;
}

void File::drained(double seconds) {
    std::lock_guard const lock(mutex_);
    statistics_.blocked_seconds += seconds;
    statistics_.drained_seconds += seconds;
}

FileStatistics File::statistics() const {
    std::lock_guard const lock(mutex_);
    FileStatistics all = statistics_;
    all.passed = passed_.load(std::memory_order_relaxed);
    all.behind = delayed->statistics();
    all.ahead = ahead.statistics();
    return all;
}

void File::completed(Operation const& operation) {
    std::lock_guard const lock(mutex_);
    Plan const& plan = operation.plan();
    FileStatistics& s = statistics_;
    s.operations += 1;
    (plan.direction == Direction::write ? s.writes : s.reads) += 1;
    s.bytes += operation.bytes();
    s.busy_seconds += std::max(0.0, operation.ended() - std::max(operation.started(), busy_until_));
    busy_until_ = std::max(busy_until_, operation.ended());
    s.tally += operation.tally();
    if (plan.direction == Direction::write && delayed->ordered()) delayed->note_speed(operation);
    if (operation.decision().priced) foretell(operation);
    bool const is_told = settings().log >= LogLevel::decisions && !(plan == s.last_plan);
    if (is_told) {
        std::string const text = describe(plan) + "\n";
        auto const first = text.find('\n');
        note(name + ": " + text.substr(0, first), text.substr(first + 1));
    }
    s.last_plan = plan;
    if (operation.summary_exchange().hints_differ) {
        warn(name + ": hints differ between ranks; those of rank 0 are used");
    }
}

void File::completed_alone(Direction way, Bytes bytes) {
    std::lock_guard const lock(mutex_);
    AloneStatistics& s = statistics_.alone;
    (way == Direction::write ? s.writes : s.reads) += 1;
    s.bytes += bytes;
}

/// Notes how far the cost model was off.
void File::foretell(Operation const& operation) {
    Estimate const& estimate = operation.decision().estimate;
    double const took = operation.ended() - operation.started();
    statistics_.priced.add(estimate.total, took);
    if (settings().log < LogLevel::decisions || team->self != 0) return;
    Tally const& tally = operation.tally();
    char measured[160];
    std::snprintf(measured, sizeof measured,
                  "took %.3g ms: stages before the data %.3g, copies %.3g, messages %.3g, "
                  "storage %.3g",
                  took * 1e3, (tally.summary_exchange + tally.claims + tally.agreement) * 1e3,
                  tally.copies * 1e3, tally.messages * 1e3, tally.transfers * 1e3);
    say(name + ": operation " + std::to_string(operation.number()) + ": " +
            describe(operation.plan().direction) + " " + describe(operation.decision().way),
        "  estimated " + describe(estimate) + "\n  " + measured + "\n");
}

void Foretold::add(double estimate, double took) noexcept {
    operations += 1;
    estimated += estimate, measured += took;
    if (estimate <= 0 || took <= 0) return;
    double const ratio = estimate / took;
    if (std::abs(std::log(ratio)) > std::abs(std::log(worst))) worst = ratio;
}

}  // namespace sluice
