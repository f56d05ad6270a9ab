// How collectives are started and moved on. See operations.hpp.
#include "collective/operations.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

template <class Ordered>
void Collectives::insert(Ordered& into, std::shared_ptr<Collective> collective) {
    if (into.empty() || into.back()->number() < collective->number()) {
        into.push_back(std::move(collective));
        return;
    }
    auto const later = std::upper_bound(
        into.begin(), into.end(), collective->number(),
        [](std::uint64_t mine, auto const& other) { return mine < other->number(); });
    into.insert(later, std::move(collective));
}

/// Threads of the program may bring them in another order than that of their numbers.
void Collectives::append(std::shared_ptr<Collective> collective) {
    if (waiting_.empty() && may_run(*collective)) return run(std::move(collective));
    insert(waiting_, std::move(collective));
    start_waiting();
}

bool Collectives::may_run(Collective const& collective) const noexcept {
    return running_.empty() ||
           collective.number() < running_.front()->number() + Collective::under_way_most;
}

void Collectives::run(std::shared_ptr<Collective> collective) {
    if (spare_.empty()) spare_.emplace_back();
    collective->begin(std::move(spare_.back()));
    spare_.pop_back();
    insert(running_, std::move(collective));
    has_new_ = true;
}

void Collectives::start_waiting() {
    while (!waiting_.empty()) {
        if (!may_run(*waiting_.front())) return;
        run(std::move(waiting_.front()));
        waiting_.pop_front();
    }
}

bool Collectives::progress() {
    // What came already finds its receive; many have none, and are complete at once.
    bool const is_start = std::exchange(has_new_, false);
    bool moved = is_start && advance(is_start);
    if (running_.empty()) return moved;
    moved |= execution_context_.network->progress();
    return advance(is_start) || moved;
}

bool Collectives::advance(bool is_start) {
    bool moved = false, ended = false;
    for (auto& collective : running_) {
        moved |= collective->progress(is_start);
        if (!collective->complete()) continue;
        spare_.push_back(collective->end());
        collective.reset();
        ended = true;
    }
    if (!ended) return moved;
    std::erase(running_, nullptr);
    start_waiting();
    return true;
}

std::string Collectives::describe() const {
    if (running_.empty()) return {};
    auto const& first = running_.front();
    return "collective " + std::to_string(first->number()) + ": " + first->describe();
}

}  // namespace sluice
