// Where the words of each reduction lie, and how reductions are counted. See node_reduction.hpp.
#include "transport/node_reduction.hpp"

#include <algorithm>

namespace sluice {

std::size_t NodeReduction::bytes_needed(Rank ranks) noexcept {
    return (static_cast<std::size_t>(ranks) + 1) * sizeof(Place);
}

NodeReduction::Place& NodeReduction::place(Rank index) const noexcept {
    return reinterpret_cast<Place*>(memory_)[index];
}

void NodeReduction::begin(Words const& mine) noexcept {
    place(self_).words = mine;
    place(self_).number.store(++number_, std::memory_order_release);
    if (self_ != 0) doorbells_.ring(0);
}

bool NodeReduction::finished() noexcept {
    auto const has_come = [&](Rank index) {
        return place(index).number.load(std::memory_order_acquire) == number_;
    };
    if (has_come(ranks_)) return true;
    if (self_ != 0) return false;
    for (Rank rank = 0; rank < ranks_; ++rank) {
        if (!has_come(rank)) return false;
    }
    combine();
    return true;
}

void NodeReduction::combine() const noexcept {
    Place& result = place(ranks_);
    result.words = {};
    for (Rank rank = 0; rank < ranks_; ++rank) {
        Words const& words = place(rank).words;
        for (std::size_t i = 0; i < word_count; ++i)
            result.words[i] = std::max(result.words[i], words[i]);
    }
    result.number.store(number_, std::memory_order_release);
    for (Rank rank = 1; rank < ranks_; ++rank) doorbells_.ring(rank);
}

}  // namespace sluice
