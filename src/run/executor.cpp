// The interpreter of schedules. See executor.hpp.
#include "run/executor.hpp"

namespace sluice {

void Executor::admit(Schedule schedule, std::int32_t id) {
    auto activity = std::make_unique<Activity>();
    auto const count = static_cast<std::uint32_t>(schedule.ops.size());
    activity->id = id;
    activity->left = count;
    activity->steps.resize(count);
    activity->links.reserve(schedule.edges.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        Op const& op = schedule.ops[i];
        activity->steps[i].unmet = op.edge_count;
        if (op.edge_count == 0) activity->ready.push_back(i);
        for (std::uint32_t e = 0; e < op.edge_count; ++e) {
            auto& first = activity->steps[schedule.edges[op.first_edge + e]].first_link;
            activity->links.push_back({i, first});
            first = static_cast<std::uint32_t>(activity->links.size() - 1);
        }
    }
    activity->schedule = std::move(schedule);
    activities_.push_back(std::move(activity));
}

bool Executor::progress(std::vector<std::int32_t>& completed) {
    bool moved = false;
    for (auto& activity : activities_) moved |= advance(*activity);
    std::erase_if(activities_, [&](auto const& activity) {
        if (activity->left > 0) return false;
        completed.push_back(activity->id);
        moved = true;
        return true;
    });
    return moved;
}

/// What becomes ready is appended, and so looked at in the same go.
bool Executor::advance(Activity& activity) {
    bool moved = false;
    auto& ready = activity.ready;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ready.size(); ++i) {
        std::uint32_t const op = ready[i];
        bool done = false;
        moved |= step(activity, op, done);
        if (done)
            release(activity, op);
        else
            ready[kept++] = op;
    }
    ready.resize(kept);
    return moved;
}

/// True when anything moved.
bool Executor::step(Activity& activity, std::uint32_t index, bool& done) {
    Op const& op = activity.schedule.ops[index];
    Step& step = activity.steps[index];
    if (step.started) return done = effects_.finish(op, step.effect);
    done = effects_.start(op, step.effect);
    if (op.kind == OpKind::await) return done;  // Nothing began: asked again next time.
    step.started = true;
    return true;
}

void Executor::release(Activity& activity, std::uint32_t op) {
    --activity.left;
    for (auto l = activity.steps[op].first_link; l != none; l = activity.links[l].next) {
        std::uint32_t const waiting = activity.links[l].op;
        if (--activity.steps[waiting].unmet == 0) activity.ready.push_back(waiting);
    }
}

std::string Executor::waits_for() const {
    for (auto const& activity : activities_) {
        if (activity->ready.empty()) continue;
        Op const& op = activity->schedule.ops[activity->ready.front()];
        std::string const text = describe(op);
        return op.kind == OpKind::await ? text + " (" + effects_.standing(op) + ")" : text;
    }
    return {};
}

}  // namespace sluice
