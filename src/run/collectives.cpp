// Starting and driving. See collectives.hpp.
#include "run/collectives.hpp"

#include <algorithm>

namespace sluice {

void Collectives::insert(Ordered& into, std::shared_ptr<Collective> collective) {
    auto const later = std::upper_bound(
        into.begin(), into.end(), collective->number(),
        [](std::uint64_t mine, auto const& other) { return mine < other->number(); });
    into.insert(later, std::move(collective));
}

/// Threads of the program may bring them in another order than that of their numbers.
void Collectives::append(std::shared_ptr<Collective> collective) {
    insert(waiting_, std::move(collective));
    start_waiting();
}

void Collectives::start_waiting() {
    while (!waiting_.empty()) {
        auto const number = waiting_.front()->number();
        if (!running_.empty() &&
            number >= running_.front()->number() + Collective::under_way_most) {
            return;
        }
        if (spare_.empty()) spare_.emplace_back();
        waiting_.front()->begin(std::move(spare_.back()));
        spare_.pop_back();
        insert(running_, std::move(waiting_.front()));
        waiting_.pop_front();
    }
}

bool Collectives::progress() {
    if (idle()) return false;
    bool moved = site_.network->progress();
    bool ended = false;
    for (auto& collective : running_) {
        moved |= collective->progress();
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
