// How a simulated process ends amid its operations. See world.hpp.
#include "simulate/world.hpp"

namespace sluice::simulated {

void World::kill(Rank rank, std::int64_t after) {
    mortal_ = rank;
    lives_for_ = after;
    if (after == 0) let_end();
}

void World::let_end() {
    ended_at_ = time_.now();
    for (Rank other = 0; other < shape_.rank_count; ++other) {
        if (other == mortal_) continue;
        time_.at(notices_at(other), *this, static_cast<std::uint32_t>(Event::progress),
                 static_cast<std::uint64_t>(other));
    }
}

double World::notices_at(Rank self) const noexcept { return ended_at_ + 1 + 0.01 * self; }

Error World::lost_rank(Rank self, double now) const noexcept {
    if (ended_at_ < 0 || now < notices_at(self)) return {};
    return {.status = Status::other, .what = "a rank has ended"};
}

}  // namespace sluice::simulated
