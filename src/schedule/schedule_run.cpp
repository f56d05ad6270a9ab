// The interpreter's loop. See schedule_run.hpp.
#include "schedule/schedule_run.hpp"

#include "schedule/describe.hpp"

namespace sluice {

Graph::Graph(Schedule&& schedule) : schedule_(std::move(schedule)) {
    auto const& ops = schedule_.ops;
    first_waiter_.assign(ops.size() + 1, 0);
    waiters_.resize(schedule_.edges.size());
    for (std::uint32_t const before : schedule_.edges) ++first_waiter_[before + 1];
    for (std::size_t i = 0; i < ops.size(); ++i) first_waiter_[i + 1] += first_waiter_[i];
    // Each op's place is moved on as it is filled, and moved back at the end.
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
        for (std::uint32_t e = 0; e < ops[i].edge_count; ++e) {
            waiters_[first_waiter_[schedule_.edges[ops[i].first_edge + e]]++] = i;
        }
    }
    for (std::size_t i = ops.size(); i > 0; --i) first_waiter_[i] = first_waiter_[i - 1];
    first_waiter_[0] = 0;
}

void ScheduleRun::begin(Graph const& graph) {
    graph_ = &graph;
    auto const& ops = graph.ops();
    left_ = ops.size();
    is_abandoned_ = false;
    if (steps_.size() < left_) steps_.resize(left_);
    ready_.clear();
    for (std::uint32_t i = 0; i < left_; ++i) {
        steps_[i].unmet = ops[i].edge_count;
        steps_[i].started = false;
        if (ops[i].edge_count == 0) ready_.push_back(i);
    }
}

/// Only what is ready is looked at: thousands of ops may wait. What becomes ready is appended, and
/// so looked at in the same go.
bool ScheduleRun::advance(Actions& actions) {
    bool moved = false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ready_.size(); ++i) {
        std::uint32_t const op = ready_[i];
        bool done = false;
        moved |= step(op, actions, done);
        if (done)
            release(op);
        else
            ready_[kept++] = op;
    }
    ready_.resize(kept);
    return moved;
}

/// True when anything moved.
bool ScheduleRun::step(std::uint32_t index, Actions& actions, bool& done) {
    Op const& op = graph_->ops()[index];
    Step& step = steps_[index];
    if (step.started) return done = actions.finish(op, step.effect);
    done = actions.start(op, step.effect);
    if (!done && actions.asked_again(op)) return false;
    step.started = true;
    return true;
}

void ScheduleRun::abandon() {
    is_abandoned_ = true;
    std::erase_if(ready_, [&](std::uint32_t op) { return !steps_[op].started; });
    left_ = ready_.size();
}

void ScheduleRun::release(std::uint32_t op) {
    --left_;
    if (is_abandoned_) return;
    for (std::uint32_t const waiting : graph_->waiters(op)) {
        if (--steps_[waiting].unmet == 0) ready_.push_back(waiting);
    }
}

std::string ScheduleRun::waits_for(Actions const& actions) const {
    Op const* const op = waiting_op();
    if (!op) return {};
    std::string const text = describe(*op);
    return actions.asked_again(*op) ? text + " (" + actions.standing(*op) + ")" : text;
}

}  // namespace sluice
