// Starting and driving. See collectives.hpp.
#include "run/collectives.hpp"

#include <algorithm>

namespace sluice {

/// Threads of the program may bring them in another order than that of their numbers.
void Collectives::append(std::shared_ptr<CollectiveState> state, CollectiveStage stage,
                         std::uint64_t number) {
    auto const later = std::upper_bound(
        waiting_.begin(), waiting_.end(), number,
        [](std::uint64_t mine, Waiting const& other) { return mine < other.number; });
    waiting_.insert(later, {std::move(state), std::move(stage), number});
    start_waiting();
}

void Collectives::start_waiting() {
    while (!waiting_.empty()) {
        Waiting& next = waiting_.front();
        bool const too_far = !running_.empty() &&
                             next.number >= running_.front().number + Collective::under_way_most;
        if (too_far) return;
        if (spare_.empty()) spare_.push_back(std::make_unique<Collective>(site_));
        auto collective = std::move(spare_.back());
        spare_.pop_back();
        collective->begin(std::move(next.state), std::move(next.stage), next.number);
        auto const later = std::upper_bound(
            running_.begin(), running_.end(), next.number,
            [](std::uint64_t mine, Numbered const& other) { return mine < other.number; });
        running_.insert(later, {next.number, std::move(collective)});
        waiting_.pop_front();
    }
}

bool Collectives::progress() {
    if (idle()) return false;
    bool moved = site_.network->progress();
    for (auto& [number, collective] : running_) moved |= collective->progress();
    auto const ended =
        std::stable_partition(running_.begin(), running_.end(),
                              [](Numbered const& each) { return !each.collective->done(); });
    if (ended == running_.end()) return moved;
    for (auto each = ended; each != running_.end(); ++each) {
        spare_.push_back(std::move(each->collective));
    }
    running_.erase(ended, running_.end());
    start_waiting();
    return true;
}

std::string Collectives::describe() const {
    if (running_.empty()) return {};
    auto const& first = running_.front();
    return "collective " + std::to_string(first.number) + ": " + first.collective->describe();
}

}  // namespace sluice
