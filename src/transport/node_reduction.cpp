// Where the words of each reduction lie, and how reductions are counted. See node_reduction.hpp.
#include "transport/node_reduction.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice {

std::size_t NodeReduction::bytes_needed(Rank ranks) noexcept {
    return (static_cast<std::size_t>(ranks) + 1) * sizeof(Place);
}

NodeReduction::Place& NodeReduction::place(Rank index) const noexcept {
    return reinterpret_cast<Place*>(memory_)[index];
}

void NodeReduction::begin(Words const& mine, std::int64_t number, Act act) {
    act_ = std::move(act);
    place(self_).words = mine;
    place(self_).number = number;
    place(self_).turn.store(++turn_, std::memory_order_release);
    if (self_ != 0) doorbells_.ring(0);
}

bool NodeReduction::finished() {
    auto const has_come = [&](Rank index) {
        return place(index).turn.load(std::memory_order_acquire) == turn_;
    };
    if (has_come(ranks_)) return true;
    if (self_ != 0) return false;
    for (Rank rank = 0; rank < ranks_; ++rank) {
        if (!has_come(rank)) return false;
    }
    combine();
    return true;
}

void NodeReduction::combine() const {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Place& result = place(ranks_);
    result.words = {};
    std::int64_t sum = 0;
    for (Rank rank = 0; rank < ranks_; ++rank) {
        Place& of_rank = place(rank);
        for (std::size_t i = 0; i < word_count; ++i)
            result.words[i] = std::max(result.words[i], of_rank.words[i]);
        std::int64_t const number = std::exchange(of_rank.number, sum);
        sum = number > most - sum ? most : sum + number;
    }
    if (act_) act_(result.words, sum);
    result.turn.store(turn_, std::memory_order_release);
    for (Rank rank = 1; rank < ranks_; ++rank) doorbells_.ring(rank);
}

}  // namespace sluice
