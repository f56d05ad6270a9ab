// The pipeline of one file's operations. See stream.hpp.
#include "file/run/stream.hpp"

namespace sluice {

Stream::Stream(Site& site) : site_(site) {
    auto const aggregators = static_cast<std::size_t>(site.window.shape().aggregator_count);
    state_.next_cycle.resize(aggregators);
    state_.next_shared_cycle.resize(aggregators);
}

std::shared_ptr<Operation> Stream::make(Call call) {
    auto made = std::make_shared<Operation>(site_, state_, std::move(call), next_number_);
    ++next_number_;  // Where there was no memory for it, the next one has the number.
    return made;
}

void Stream::append(std::shared_ptr<Operation> operation) {
    queue_.push_back(std::move(operation));
}

bool Stream::progress() {
    bool moved = false;
    ahead_.planned = true;
    ahead_.generating.assign(state_.next_cycle.size(), false);
    for (auto& operation : queue_) {
        if (operation->number() >= queue_.front()->number() + operations_under_way) break;
        if (operation->stage() == Stage::waiting) {
            operation->start();
            moved = true;
        }
        moved |= operation->progress(ahead_);
    }
    while (!queue_.empty() && queue_.front()->complete()) queue_.pop_front();
    return moved;
}

std::string Stream::describe() const { return queue_.empty() ? "" : queue_.front()->describe(); }

}  // namespace sluice
